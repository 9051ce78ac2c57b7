"""Library: what `help` says of the classes of torch.nn: a sentence, shapes, arguments.

N is the size of a batch, C are channels, L a length, * any other dimensions. A class in dimensions
1 to 3 is described once: {sizes} are its last dimensions, {out} those of the result.
"""

from __future__ import annotations

SAME = "input (*), output (*): the same shape"
LOSS = "input (*), target (*), output () or with reduction='none' (*)"
PAIRED = "two inputs (N, D), target (N), output () or with reduction='none' (N)"
PLACED = "input (N, C, {sizes}), output (N, C, {sizes}); without N too"
POOLED = "input (N, C, {sizes}), output (N, C, {out}); without N too"
LAYERED = "source (S, N, E), target (T, N, E); with batch_first N comes first"

CLASSES = {
    "Module": ("Base class of all modules: holds parameters, buffers and other modules, and calls "
               "forward.", "whatever forward takes and returns"),
    "Parameter": ("A tensor that a module lists among its parameters once it is an attribute of "
                  "it.", "that of data"),
    "Buffer": ("A tensor that a module keeps as state, without training it.", "that of data"),
    "Sequential": ("Calls modules one after the other, each with what the one before returned.",
                   "the input of the first module, the output of the last"),
    "ModuleList": ("A list of modules whose parameters belong to the module that holds it.",
                   "it is not called"),
    "ModuleDict": ("A dict of modules whose parameters belong to the module that holds it.",
                   "it is not called"),
    "ParameterList": ("A list of parameters that belong to the module that holds it.",
                      "it is not called"),
    "ParameterDict": ("A dict of parameters that belong to the module that holds it.",
                      "it is not called"),
    "Identity": ("Returns its input; arguments are ignored.", SAME),
    "Linear": ("Computes input @ weight.T + bias. weight is (out_features, in_features), bias "
               "(out_features).", "input (*, in_features), output (*, out_features)"),
    "Bilinear": ("Computes input1 @ weight @ input2 + bias for each output feature. weight is "
                 "(out_features, in1_features, in2_features).",
                 "inputs (*, in1_features) and (*, in2_features), output (*, out_features)"),
    "Flatten": ("Puts the dimensions from start_dim to end_dim into one.",
                "input (N, *), output (N, product of *) by default"),
    "Unflatten": ("Splits a dimension into several.", "input (*, size, *), output (*, "
                  "unflattened_size, *)"),
    "Embedding": ("Looks up a vector for each index. weight is (num_embeddings, embedding_dim).",
                  "input (*) of integers, output (*, embedding_dim)"),
    "EmbeddingBag": ("Looks up vectors and takes the sum, mean or maximum of each bag of them. "
                     "weight is (num_embeddings, embedding_dim).",
                     "input (B, N), or (N) with offsets (B); output (B, embedding_dim)"),
    # ---- activations
    "ReLU": ("max(0, x), element by element.", SAME),
    "ReLU6": ("min(max(0, x), 6), element by element.", SAME),
    "LeakyReLU": ("x where it is positive, else negative_slope * x.", SAME),
    "ELU": ("x where it is positive, else alpha * (exp(x) - 1).", SAME),
    "CELU": ("x where it is positive, else alpha * (exp(x / alpha) - 1).", SAME),
    "SELU": ("A scaled ELU that keeps mean 0 and variance 1 in deep networks.", SAME),
    "GELU": ("x times the normal distribution function of x.", SAME),
    "SiLU": ("x * sigmoid(x), element by element.", SAME),
    "Mish": ("x * tanh(softplus(x)), element by element.", SAME),
    "Softplus": ("log(1 + exp(beta * x)) / beta, a smooth ReLU.", SAME),
    "Softsign": ("x / (1 + |x|), element by element.", SAME),
    "Sigmoid": ("1 / (1 + exp(-x)), element by element.", SAME),
    "Tanh": ("Hyperbolic tangent, element by element.", SAME),
    "LogSigmoid": ("log(1 / (1 + exp(-x))), element by element.", SAME),
    "Hardtanh": ("x limited to the range from min_val to max_val.", SAME),
    "Hardsigmoid": ("x / 6 + 1 / 2, limited to the range from 0 to 1.", SAME),
    "Hardswish": ("x * hardsigmoid(x), element by element.", SAME),
    "Hardshrink": ("x where |x| is larger than lambd, else 0.", SAME),
    "Softshrink": ("x moved towards 0 by lambd, and 0 where it is nearer than that.", SAME),
    "Tanhshrink": ("x - tanh(x), element by element.", SAME),
    "Threshold": ("x where it is larger than threshold, else value.", SAME),
    "Softmax": ("Exponentials divided by their sum along dim.", SAME),
    "LogSoftmax": ("Logarithm of softmax along dim.", SAME),
    "Softmin": ("Softmax of -x along dim.", SAME),
    "Softmax2d": ("Softmax over the channels at each place.",
                  "input (N, C, H, W), the same output"),
    "PReLU": ("x where it is positive, else weight * x; weight is learned.", SAME),
    "RReLU": ("LeakyReLU whose slope is drawn between lower and upper while training.", SAME),
    "GLU": ("One half of dim times the sigmoid of the other half.",
            "input (*, 2 M, *), output (*, M, *)"),
    # ---- dropout
    "Dropout": ("Sets elements to 0 with probability p while training, and scales the others by "
                "1 / (1 - p).", SAME),
    "Dropout{n}d": ("Sets whole channels to 0 with probability p while training.", PLACED),
    "AlphaDropout": ("Dropout that keeps mean and variance, for SELU.", SAME),
    "FeatureAlphaDropout": ("AlphaDropout of whole channels.", "input (N, C, *), the same output"),
    # ---- losses
    "MSELoss": ("Squared difference of input and target.", LOSS),
    "L1Loss": ("Absolute difference of input and target.", LOSS),
    "SmoothL1Loss": ("Squared difference / (2 beta) where it is below beta, else absolute "
                     "difference - beta / 2.", LOSS),
    "HuberLoss": ("Half the squared difference where it is below delta, else delta * (absolute "
                  "difference - delta / 2).", LOSS),
    "NLLLoss": ("Minus the log-probability of the target class.",
                "input (N, C, *) of log-probabilities, target (N, *) of classes"),
    "CrossEntropyLoss": ("LogSoftmax over the classes, then NLLLoss.",
                         "input (N, C, *) of logits, target (N, *) of classes or (N, C, *) of "
                         "probabilities"),
    "BCELoss": ("Binary cross entropy of probabilities.", LOSS),
    "BCEWithLogitsLoss": ("Binary cross entropy of logits: a sigmoid and BCELoss in one.", LOSS),
    "KLDivLoss": ("Kullback-Leibler divergence from target to input, which is a log-probability.",
                  LOSS),
    "PoissonNLLLoss": ("Negative log-likelihood of counts under a Poisson distribution.", LOSS),
    "GaussianNLLLoss": ("Negative log-likelihood under normal distributions of mean input and "
                        "variance var.", "input, target and var (*)"),
    "HingeEmbeddingLoss": ("input where the target is 1, max(0, margin - input) where it is -1.",
                           LOSS),
    "MarginRankingLoss": ("max(0, -target * (input1 - input2) + margin).", PAIRED),
    "CosineEmbeddingLoss": ("1 - cosine where the target is 1, max(0, cosine - margin) where it "
                            "is -1.", PAIRED),
    "TripletMarginLoss": ("max(0, distance to the positive - distance to the negative + margin).",
                          "anchor, positive and negative (N, D)"),
    "TripletMarginWithDistanceLoss": ("TripletMarginLoss with a distance of your own.",
                                      "anchor, positive and negative (N, *)"),
    "SoftMarginLoss": ("log(1 + exp(-target * input)); targets are 1 or -1.", LOSS),
    "MultiMarginLoss": ("Hinge loss of every wrong class against the target class.",
                        "input (N, C), target (N) of classes"),
    "MultiLabelMarginLoss": ("Hinge loss of every other class against each target class.",
                             "input (N, C), target (N, C): classes, then -1"),
    "MultiLabelSoftMarginLoss": ("Mean of the binary cross entropies of the classes.",
                                 "input and target (N, C)"),
    "CosineSimilarity": ("Cosine of the angle between two vectors along dim.",
                         "two inputs (*, D, *), output (*, *)"),
    "PairwiseDistance": ("p-norm of the difference of two vectors.",
                         "two inputs (N, D), output (N)"),
    "CTCLoss": ("Connectionist temporal classification: minus the log-probability of all "
                "alignments.", "log_probs (T, N, C), targets (N, S), lengths (N) and (N)"),
    "AdaptiveLogSoftmaxWithLoss": (
        "Log softmax over many classes, the frequent ones in a head and the rare ones in clusters "
        "with smaller layers, and the loss of the targets.",
        "input (N, in_features), target (N), output (N) and a loss of one element",
    ),
    # ---- normalization
    "LayerNorm": ("Mean 0 and variance 1 over the last dimensions, then weight and bias of shape "
                  "normalized_shape.", "input (*, normalized_shape), the same output"),
    "RMSNorm": ("Divides by the root mean square of the last dimensions, then multiplies by "
                "weight.", "input (*, normalized_shape), the same output"),
    "GroupNorm": ("Mean 0 and variance 1 within each group of channels.",
                  "input (N, C, *), the same output"),
    "BatchNorm{n}d": ("Mean 0 and variance 1 of each channel over the batch; running statistics "
                      "take their place in eval().", PLACED),
    "SyncBatchNorm": ("BatchNorm with the statistics of all processes, of which there is one.",
                      "input (N, C, *), the same output"),
    "InstanceNorm{n}d": ("Mean 0 and variance 1 of each channel of each sample.", PLACED),
    "LocalResponseNorm": ("Divides by a power of the squares of neighbouring channels.",
                          "input (N, C, *), the same output"),
    # ---- convolution and pooling
    "Conv{n}d": ("Cross-correlation with learned kernels. weight is (out_channels, in_channels / "
                 "groups, {kernel}), bias (out_channels).",
                 "input (N, in_channels, {sizes}), output (N, out_channels, {out}); without N too"),
    "ConvTranspose{n}d": ("The transpose of a convolution: the gradient of Conv{n}d with respect "
                          "to its input. weight is (in_channels, out_channels / groups, {kernel}).",
                          "input (N, in_channels, {sizes}), output (N, out_channels, {out}); "
                          "without N too"),
    "MaxPool{n}d": ("Max pooling: the largest element of each window.", POOLED),
    "AvgPool{n}d": ("Average pooling: the mean of each window.", POOLED),
    "LPPool{n}d": ("The norm_type-norm of each window.", POOLED),
    "AdaptiveAvgPool{n}d": ("Means over windows chosen so that the output has output_size.",
                            POOLED),
    "AdaptiveMaxPool{n}d": ("Maxima over windows chosen so that the output has output_size.",
                            POOLED),
    "FractionalMaxPool{n}d": ("The largest element of windows of random places.", POOLED),
    "MaxUnpool{n}d": ("Puts maxima back where MaxPool{n}d found them; zeros elsewhere.", POOLED),
    "LazyLinear": ("Linear that takes in_features from its first input.",
                   "input (*, in_features), output (*, out_features)"),
    "LazyConv{n}d": ("Conv{n}d that takes in_channels from its first input.",
                     "input (N, C, {sizes}), output (N, out_channels, {out})"),
    "LazyBatchNorm{n}d": ("BatchNorm{n}d that takes num_features from its first input.", PLACED),
    # ---- padding and resampling
    "ZeroPad{n}d": ("Adds zeros around the input.", POOLED),
    "ConstantPad{n}d": ("Adds a constant around the input.", POOLED),
    "ReflectionPad{n}d": ("Adds a reflection of the input around it, without its border.", POOLED),
    "ReplicationPad{n}d": ("Repeats the border of the input around it.", POOLED),
    "CircularPad{n}d": ("Adds the opposite side of the input around it.", POOLED),
    "Upsample": ("Resamples to another size.", "input (N, C, *), output (N, C, *)"),
    "UpsamplingNearest2d": ("Resamples with the nearest neighbour.",
                            "input (N, C, H, W), output (N, C, H_out, W_out)"),
    "UpsamplingBilinear2d": ("Resamples linearly, with corners aligned.",
                             "input (N, C, H, W), output (N, C, H_out, W_out)"),
    "PixelShuffle": ("Moves channels into space.",
                     "input (*, C r r, H, W), output (*, C, H r, W r)"),
    "PixelUnshuffle": ("Moves space into channels.",
                       "input (*, C, H r, W r), output (*, C r r, H, W)"),
    "ChannelShuffle": ("Interleaves groups of channels.", "input (N, C, *), the same output"),
    "Fold": ("Adds windows up to an image.", "input (N, C * window, L), output (N, C, H, W)"),
    "Unfold": ("Takes an image apart into windows.",
               "input (N, C, H, W), output (N, C * window, L)"),
    # ---- sequences and attention
    "RNNBase": ("Base class of RNN, LSTM and GRU.",
                "input (L, N, input_size), output (L, N, hidden_size)"),
    "RNN": ("tanh or relu of W_ih x + b_ih + W_hh h + b_hh, step by step.",
            "input (L, N, input_size), output (L, N, D * hidden_size), h (D * num_layers, N, "
            "hidden_size); D is 2 if bidirectional"),
    "LSTM": ("Long short-term memory: input, forget and output gates around a cell state.",
             "input (L, N, input_size), output (L, N, D * hidden_size), h and c (D * num_layers, "
             "N, hidden_size); D is 2 if bidirectional"),
    "GRU": ("Gated recurrent unit: reset and update gates.",
            "input (L, N, input_size), output (L, N, D * hidden_size), h (D * num_layers, N, "
            "hidden_size); D is 2 if bidirectional"),
    "RNNCellBase": ("What RNNCell, LSTMCell and GRUCell have in common: weights and biases of "
                    "num_chunks gates.", "it is not called"),
    "RNNCell": ("One step of an RNN.", "input (N, input_size), h (N, hidden_size)"),
    "LSTMCell": ("One step of an LSTM.", "input (N, input_size), h and c (N, hidden_size)"),
    "GRUCell": ("One step of a GRU.", "input (N, input_size), h (N, hidden_size)"),
    "MultiheadAttention": ("softmax(q k.T / sqrt(d)) v in num_heads parts of embed_dim; returns "
                           "the output and the weights.",
                           "query (T, N, E), key and value (S, N, E), output (T, N, E), weights "
                           "(N, T, S); with batch_first N comes first"),
    "Transformer": ("An encoder and a decoder of attention layers.", LAYERED),
    "TransformerEncoder": ("num_layers copies of an encoder layer.", LAYERED),
    "TransformerDecoder": ("num_layers copies of a decoder layer.", LAYERED),
    "TransformerEncoderLayer": ("Self-attention and two linear layers, each with a residual and a "
                                "layer norm.", LAYERED),
    "TransformerDecoderLayer": ("Self-attention, attention to the encoder and two linear layers, "
                                "each with a residual and a layer norm.", LAYERED),
    "DataParallel": ("Calls a module; there is one device, so nothing is spread.",
                     "those of module"),
}  # fmt: skip
