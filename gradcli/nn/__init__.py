"""Library: torch.nn: modules, parameters, their initialisation. Loaded when a name is used."""

from __future__ import annotations

from typing import Any

from ..lazy import lazy
from .docstrings import describe

_PLACES = {
    "module": "Module",
    "parameter": "Parameter Buffer",
    "container": "Sequential ModuleList ModuleDict ParameterList ParameterDict",
    "linear": "Identity Linear Bilinear Flatten Unflatten Embedding",
    "activation": (
        "ReLU ReLU6 LeakyReLU ELU CELU SELU GELU SiLU Mish Softplus Softsign Sigmoid Tanh "
        "LogSigmoid Hardtanh Hardsigmoid Hardswish Hardshrink Softshrink Tanhshrink Threshold "
        "Softmax LogSoftmax Softmin Softmax2d PReLU RReLU GLU"
    ),
    "dropout": ("Dropout Dropout1d Dropout2d Dropout3d AlphaDropout FeatureAlphaDropout"),
    "loss": (
        "MSELoss L1Loss SmoothL1Loss HuberLoss NLLLoss CrossEntropyLoss BCELoss BCEWithLogitsLoss "
        "KLDivLoss PoissonNLLLoss GaussianNLLLoss HingeEmbeddingLoss MarginRankingLoss "
        "CosineEmbeddingLoss TripletMarginLoss TripletMarginWithDistanceLoss SoftMarginLoss "
        "MultiMarginLoss MultiLabelMarginLoss MultiLabelSoftMarginLoss CosineSimilarity "
        "PairwiseDistance CTCLoss"
    ),
    "adaptive": "AdaptiveLogSoftmaxWithLoss",
    "normalization": (
        "LayerNorm RMSNorm GroupNorm BatchNorm1d BatchNorm2d BatchNorm3d InstanceNorm1d "
        "InstanceNorm2d InstanceNorm3d SyncBatchNorm LocalResponseNorm"
    ),
    "convolution": "Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d",
    "lazy_modules": (
        "LazyLinear LazyConv1d LazyConv2d LazyConv3d LazyBatchNorm1d LazyBatchNorm2d "
        "LazyBatchNorm3d"
    ),
    "pooling": (
        "MaxPool1d MaxPool2d MaxPool3d AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d LPPool3d "
        "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
        "AdaptiveMaxPool2d AdaptiveMaxPool3d"
    ),
    "resampling": (
        "ZeroPad1d ZeroPad2d ZeroPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d "
        "ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d "
        "CircularPad1d CircularPad2d CircularPad3d Upsample UpsamplingNearest2d "
        "UpsamplingBilinear2d PixelShuffle PixelUnshuffle ChannelShuffle Fold Unfold"
    ),
    "unpooling": "MaxUnpool1d MaxUnpool2d MaxUnpool3d FractionalMaxPool2d FractionalMaxPool3d",
    "sparse": "EmbeddingBag",
    "recurrent": "RNNCellBase RNNCell LSTMCell GRUCell",
    "sequences": "RNNBase RNN LSTM GRU",
    "multihead": "MultiheadAttention",
    "parallel.data_parallel": "DataParallel",
    "transformer": (
        "Transformer TransformerEncoder TransformerDecoder TransformerEncoderLayer "
        "TransformerDecoderLayer"
    ),
}
__all__, _named = lazy(
    __name__, _PLACES, ("_reduction", "attention", "functional", "init", "utils"), describe
)


def __getattr__(name: str) -> Any:
    from ..namespace import Space, ready

    ready()  # `import gradcli.nn` asks gradcli for nothing
    if name == "modules":  # PyTorch's files, which are names alone here
        return Space("nn.modules")
    return _named(name)
