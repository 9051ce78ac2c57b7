"""language: torchvision.models: its networks with random weights; trained ones are a download."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ....namespace import resolve
from ....nn import init
from ....nn.activation import ReLU, ReLU6
from ....nn.container import Sequential
from ....nn.convolution import Conv2d
from ....nn.dropout import Dropout
from ....nn.linear import Linear
from ....nn.module import Module
from ....nn.normalization import BatchNorm2d, GroupNorm
from ....nn.pooling import AdaptiveAvgPool2d, MaxPool2d
from ...adoption import VALUES
from ...attributes import get_attribute
from ...calls import call
from ...members import members_of_type
from ..publishing import classes, functions

_HOME = "torchvision.models."
flatten, adaptive_avg_pool2d = resolve("flatten"), resolve("nn.functional.adaptive_avg_pool2d")


def _started(module: Module, **biases: Any) -> None:
    """The weights of convolutions and norms as these networks begin, in the order of the layers."""
    for part in module.modules():
        if isinstance(part, Conv2d):
            init.kaiming_normal_(part.weight, mode="fan_out", nonlinearity="relu")
            if part.bias is not None:
                init.constant_(part.bias, 0)
        elif isinstance(part, (BatchNorm2d, GroupNorm)):
            init.constant_(part.weight, 1)
            init.constant_(part.bias, 0)
        elif isinstance(part, Linear) and biases:
            init.normal_(part.weight, 0, biases["deviation"])
            init.constant_(part.bias, 0)


# ---------------------------------------------------------------- residual networks


def _convolution(inside: int, outside: int, size: int, **options: Any) -> Conv2d:
    return Conv2d(inside, outside, kernel_size=size, bias=False, **options)


class BasicBlock(Module):
    """Two convolutions of 3x3, and the way around them."""

    _torch_name = _HOME + "resnet.BasicBlock"
    PUBLIC = ("stride", "downsample", "expansion")
    expansion = 1

    def __init__(
        self, inplanes: int, planes: int, stride: int = 1, downsample: Any = None,
        groups: int = 1, base_width: int = 64, dilation: int = 1, norm_layer: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if groups != 1 or base_width != 64:
            raise ValueError("BasicBlock only supports groups=1 and base_width=64")
        if dilation > 1:
            raise NotImplementedError("Dilation > 1 not supported in BasicBlock")
        norm = BatchNorm2d if norm_layer is None else norm_layer
        self.conv1 = _convolution(inplanes, planes, 3, stride=stride, padding=1)
        self.bn1 = call(norm, (planes,), {})
        self.relu = ReLU(inplace=True)
        self.conv2 = _convolution(planes, planes, 3, padding=1)
        self.bn2 = call(norm, (planes,), {})
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Any) -> Any:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class Bottleneck(Module):
    """A convolution of 3x3 between two of 1x1, and the way around them."""

    _torch_name = _HOME + "resnet.Bottleneck"
    PUBLIC = ("stride", "downsample", "expansion")
    expansion = 4

    def __init__(
        self, inplanes: int, planes: int, stride: int = 1, downsample: Any = None,
        groups: int = 1, base_width: int = 64, dilation: int = 1, norm_layer: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        norm = BatchNorm2d if norm_layer is None else norm_layer
        width = int(planes * (base_width / 64.0)) * groups
        self.conv1 = _convolution(inplanes, width, 1)
        self.bn1 = call(norm, (width,), {})
        self.conv2 = _convolution(
            width, width, 3, stride=stride, padding=dilation, groups=groups, dilation=dilation
        )
        self.bn2 = call(norm, (width,), {})
        self.conv3 = _convolution(width, planes * self.expansion, 1)
        self.bn3 = call(norm, (planes * self.expansion,), {})
        self.relu = ReLU(inplace=True)
        self.downsample = downsample
        self.stride = stride

    def forward(self, x: Any) -> Any:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class ResNet(Module):
    _torch_name = _HOME + "resnet.ResNet"
    PUBLIC = ("inplanes", "dilation", "groups", "base_width")

    def __init__(
        self, block: Any, layers: Any, num_classes: int = 1000, zero_init_residual: bool = False,
        groups: int = 1, width_per_group: int = 64, replace_stride_with_dilation: Any = None,
        norm_layer: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self._norm = BatchNorm2d if norm_layer is None else norm_layer
        self.inplanes, self.dilation = 64, 1
        self.groups, self.base_width = groups, width_per_group
        self.conv1 = _convolution(3, 64, 7, stride=2, padding=3)
        self.bn1 = call(self._norm, (64,), {})
        self.relu = ReLU(inplace=True)
        self.maxpool = MaxPool2d(kernel_size=3, stride=2, padding=1)
        dilated = (False, *(replace_stride_with_dilation or (False,) * 3))
        for number, count in enumerate(layers):
            stride = 1 if number == 0 else 2
            row = self._row(block, 64 << number, count, stride, dilated[number])
            self.add_module(f"layer{number + 1}", row)
        self.avgpool = AdaptiveAvgPool2d((1, 1))
        self.fc = Linear(512 * _expansion(block), num_classes)
        _started(self)
        if zero_init_residual:
            for part in self.modules():
                if isinstance(part, (BasicBlock, Bottleneck)):
                    last = part.bn3 if isinstance(part, Bottleneck) else part.bn2
                    init.constant_(last.weight, 0)

    def _row(self, block: Any, planes: int, count: int, stride: int, dilate: bool) -> Sequential:
        around, before, wide = None, self.dilation, planes * _expansion(block)
        if dilate:
            self.dilation, stride = self.dilation * stride, 1
        if stride != 1 or self.inplanes != wide:
            around = Sequential(
                _convolution(self.inplanes, wide, 1, stride=stride), call(self._norm, (wide,), {})
            )
        same = self.groups, self.base_width
        blocks = [
            call(block, (self.inplanes, planes, stride, around, *same, before, self._norm), {})
        ]
        self.inplanes = wide
        for _ in range(1, count):
            more = {"groups": same[0], "base_width": same[1], "dilation": self.dilation}
            blocks.append(call(block, (wide, planes), {**more, "norm_layer": self._norm}))
        return Sequential(*blocks)

    def forward(self, x: Any) -> Any:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(flatten(self.avgpool(x), 1))


def _expansion(block: Any) -> int:
    """How much wider a block ends than it began; a class of the program says so too."""
    own = isinstance(block, type)
    return int(block.expansion if own else get_attribute(block, "expansion"))


# ---------------------------------------------------------------- plain stacks of convolutions


class VGG(Module):
    _torch_name = _HOME + "vgg.VGG"
    PUBLIC = ()

    def __init__(
        self, features: Any, num_classes: int = 1000, init_weights: bool = True,
        dropout: float = 0.5,
    ) -> None:  # fmt: skip
        super().__init__()
        self.features = features
        self.avgpool = AdaptiveAvgPool2d((7, 7))
        self.classifier = Sequential(
            Linear(512 * 7 * 7, 4096), ReLU(True), Dropout(p=dropout), Linear(4096, 4096),
            ReLU(True), Dropout(p=dropout), Linear(4096, num_classes),
        )  # fmt: skip
        if init_weights:
            _started(self, deviation=0.01)

    def forward(self, x: Any) -> Any:
        return self.classifier(flatten(self.avgpool(self.features(x)), 1))


# Convolutions before each of the five poolings.
_DEPTHS = {11: (1, 1, 2, 2, 2), 13: (2, 2, 2, 2, 2), 16: (2, 2, 3, 3, 3), 19: (2, 2, 4, 4, 4)}


def _features(depth: int, normed: bool) -> Sequential:
    layers: list[Module] = []
    inside = 3
    for place, count in enumerate(_DEPTHS[depth]):
        outside = min(64 << place, 512)
        for _ in range(count):
            layers.append(Conv2d(inside, outside, kernel_size=3, padding=1))
            layers += [BatchNorm2d(outside)] if normed else []
            layers.append(ReLU(inplace=True))
            inside = outside
        layers.append(MaxPool2d(kernel_size=2, stride=2))
    return Sequential(*layers)


class AlexNet(Module):
    _torch_name = _HOME + "alexnet.AlexNet"
    PUBLIC = ()

    def __init__(self, num_classes: int = 1000, dropout: float = 0.5) -> None:
        super().__init__()
        self.features = Sequential(
            Conv2d(3, 64, kernel_size=11, stride=4, padding=2), ReLU(inplace=True),
            MaxPool2d(kernel_size=3, stride=2),
            Conv2d(64, 192, kernel_size=5, padding=2), ReLU(inplace=True),
            MaxPool2d(kernel_size=3, stride=2),
            Conv2d(192, 384, kernel_size=3, padding=1), ReLU(inplace=True),
            Conv2d(384, 256, kernel_size=3, padding=1), ReLU(inplace=True),
            Conv2d(256, 256, kernel_size=3, padding=1), ReLU(inplace=True),
            MaxPool2d(kernel_size=3, stride=2),
        )  # fmt: skip
        self.avgpool = AdaptiveAvgPool2d((6, 6))
        self.classifier = Sequential(
            Dropout(p=dropout), Linear(256 * 6 * 6, 4096), ReLU(inplace=True),
            Dropout(p=dropout), Linear(4096, 4096), ReLU(inplace=True), Linear(4096, num_classes),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        return self.classifier(flatten(self.avgpool(self.features(x)), 1))


# ---------------------------------------------------------------- inverted residuals


class Conv2dNormActivation(Sequential):
    _torch_name = "torchvision.ops.misc.Conv2dNormActivation"

    def __init__(self, inside: int, outside: int, size: int = 3, stride: int = 1, groups: int = 1):
        padding = (size - 1) // 2
        super().__init__(
            _convolution(inside, outside, size, stride=stride, padding=padding, groups=groups),
            BatchNorm2d(outside), ReLU6(inplace=True),
        )  # fmt: skip


class InvertedResidual(Module):
    """Widened, convolved channel by channel, narrowed; the way around where nothing changes."""

    _torch_name = _HOME + "mobilenetv2.InvertedResidual"
    PUBLIC = ("stride", "use_res_connect", "out_channels")

    def __init__(self, inp: int, oup: int, stride: int, expand_ratio: int) -> None:
        super().__init__()
        wide = round(inp * expand_ratio)
        self.stride, self.out_channels = stride, oup
        self.use_res_connect = stride == 1 and inp == oup
        widened = [Conv2dNormActivation(inp, wide, 1)] if expand_ratio != 1 else []
        self.conv = Sequential(
            *widened, Conv2dNormActivation(wide, wide, stride=stride, groups=wide),
            _convolution(wide, oup, 1), BatchNorm2d(oup),
        )  # fmt: skip

    def forward(self, x: Any) -> Any:
        return x + self.conv(x) if self.use_res_connect else self.conv(x)


def _divisible(channels: float) -> int:
    """To the nearest eight, and never a tenth below."""
    found = max(8, int(channels + 4) // 8 * 8)
    return found + 8 if found < 0.9 * channels else found


class MobileNetV2(Module):
    _torch_name = _HOME + "mobilenetv2.MobileNetV2"
    PUBLIC = ("last_channel",)
    # Of each row: how much is widened, channels, blocks, the stride of the first.
    ROWS = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1),
            (6, 160, 3, 2), (6, 320, 1, 1))  # fmt: skip

    def __init__(
        self, num_classes: int = 1000, width_mult: float = 1.0, dropout: float = 0.2
    ) -> None:
        super().__init__()
        inside = _divisible(32 * width_mult)
        self.last_channel = _divisible(1280 * max(1.0, width_mult))
        layers: list[Module] = [Conv2dNormActivation(3, inside, stride=2)]
        for ratio, channels, count, stride in self.ROWS:
            outside = _divisible(channels * width_mult)
            for place in range(count):
                layers.append(InvertedResidual(inside, outside, 1 if place else stride, ratio))
                inside = outside
        layers.append(Conv2dNormActivation(inside, self.last_channel, 1))
        self.features = Sequential(*layers)
        self.classifier = Sequential(Dropout(p=dropout), Linear(self.last_channel, num_classes))
        for part in self.modules():
            if isinstance(part, Conv2d):
                init.kaiming_normal_(part.weight, mode="fan_out")
            elif isinstance(part, Linear):
                init.normal_(part.weight, 0, 0.01)
                init.zeros_(part.bias)

    def forward(self, x: Any) -> Any:
        pooled = adaptive_avg_pool2d(self.features(x), (1, 1))
        return self.classifier(flatten(pooled, 1))


# ---------------------------------------------------------------- by their names


def _resnet(block: type, *layers: int, **fixed: Any) -> Callable[..., Any]:
    return lambda **options: ResNet(block, layers, **{**fixed, **options})


def _vgg(depth: int, normed: bool) -> Callable[..., Any]:
    return lambda **options: VGG(_features(depth, normed), **options)


_WIDE = {"width_per_group": 128}
BUILDERS: dict[str, tuple[str, Callable[..., Any]]] = {
    "resnet18": ("ResNet18", _resnet(BasicBlock, 2, 2, 2, 2)),
    "resnet34": ("ResNet34", _resnet(BasicBlock, 3, 4, 6, 3)),
    "resnet50": ("ResNet50", _resnet(Bottleneck, 3, 4, 6, 3)),
    "resnet101": ("ResNet101", _resnet(Bottleneck, 3, 4, 23, 3)),
    "resnet152": ("ResNet152", _resnet(Bottleneck, 3, 8, 36, 3)),
    "wide_resnet50_2": ("Wide_ResNet50_2", _resnet(Bottleneck, 3, 4, 6, 3, **_WIDE)),
    "resnext50_32x4d": (
        "ResNeXt50_32X4D", _resnet(Bottleneck, 3, 4, 6, 3, groups=32, width_per_group=4)),
    **{f"vgg{depth}{'_bn' * normed}": (f"VGG{depth}{'_BN' * normed}", _vgg(depth, normed))
       for depth in _DEPTHS for normed in (False, True)},
    "alexnet": ("AlexNet", AlexNet), "mobilenet_v2": ("MobileNet_V2", MobileNetV2),
}  # fmt: skip


class Weights:
    """A member of ResNet18_Weights and its like: trained weights, which are not here."""

    _torch_name = _HOME + "_api.WeightsEnum"
    PUBLIC = ("name",)

    def __init__(self, owner: str, name: str) -> None:
        self._owner, self.name = owner, name

    def __repr__(self) -> str:
        return f"{self._owner}.{self.name}"


class WeightsOfModel:
    """What the name ResNet18_Weights stands for."""

    _torch_name = "enum.EnumType"
    PUBLIC = ("DEFAULT", "IMAGENET1K_V1", "IMAGENET1K_V2")

    def __init__(self, name: str) -> None:
        self.DEFAULT = self.IMAGENET1K_V1 = Weights(name, "IMAGENET1K_V1")
        self.IMAGENET1K_V2 = Weights(name, "IMAGENET1K_V2")


def _builder(name: str, make: Callable[..., Any]) -> Callable[..., Any]:
    def build(
        pretrained: Any = False, progress: Any = True, *, weights: Any = None, **options: Any
    ) -> Any:
        if pretrained or weights is not None:
            raise RuntimeError(
                f"torchvision.models.{name} would download trained weights, and a program here has "
                "no network; weights=None gives the network with random ones"
            )
        return make(**options)

    return build


VALUES.update((Weights, WeightsOfModel))
for _block in (BasicBlock, Bottleneck):
    members_of_type(_block).constants["expansion"] = _block.expansion
_MADE = {
    **functions({name: _builder(name, make) for name, (_, make) in BUILDERS.items()}),
    **{f"{title}_Weights": WeightsOfModel(f"{title}_Weights") for title, _ in BUILDERS.values()},
    **classes([ResNet]),
}
_BLOCKS = classes([BasicBlock, Bottleneck])
VALUES.update((VGG, AlexNet, MobileNetV2, InvertedResidual, Conv2dNormActivation))


def _of(home: str) -> dict[str, Any]:
    """What a file of torchvision.models has."""
    begins = {"resnet": ("resn", "wide", "ResN", "Wide"), "vgg": ("vgg", "VGG1")}[home]
    return {name: value for name, value in _MADE.items() if name.startswith(begins)}


MODULES: dict[str, dict[str, Any]] = {
    "torchvision.models": _MADE,
    "torchvision.models.resnet": {
        **_of("resnet"), **{name: _BLOCKS[name] for name in ("BasicBlock", "Bottleneck")},
    },
    "torchvision.models.vgg": _of("vgg"),
}  # fmt: skip
