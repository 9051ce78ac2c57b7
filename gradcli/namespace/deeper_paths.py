"""namespace: modules inside PyTorch that programs import from, and their public names."""

from __future__ import annotations

# Where PyTorch keeps its layers and its distributions: the names of its files.
NN_MODULES = frozenset(
    "activation adaptive batchnorm channelshuffle container conv distance dropout flatten fold "
    "instancenorm lazy linear loss module normalization padding pixelshuffle pooling rnn sparse "
    "transformer upsampling utils".split()
)
DISTRIBUTIONS = frozenset(
    "bernoulli beta binomial categorical cauchy chi2 continuous_bernoulli dirichlet "
    "distribution exp_family exponential fishersnedecor gamma generalized_pareto geometric gumbel "
    "half_cauchy half_normal independent inverse_gamma kl kumaraswamy laplace lkj_cholesky "
    "log_normal logistic_normal lowrank_multivariate_normal mixture_same_family multinomial "
    "multivariate_normal negative_binomial normal one_hot_categorical pareto poisson "
    "relaxed_bernoulli relaxed_categorical studentT transformed_distribution transforms uniform "
    "von_mises weibull wishart".split()
)
# Files whose name is that of a function in them: read as an attribute, it is the function.
HIDDEN = ("nn.utils.weight_norm", "nn.utils.spectral_norm")
# Deeper paths that PyTorch keeps classes at -> the package that publishes the same names; "" is
# torch itself.
DEEPER = {
    "functional": "", "functional.F": "nn.functional", "nn.parameter": "nn", "nn.modules": "nn",
    "autograd.variable": "autograd",
    "autograd.anomaly_mode": "autograd", "nn.utils.clip_grad": "nn.utils",
    "nn.utils.convert_parameters": "nn.utils", "nn.quantized.modules": "nn.quantized",
    **dict.fromkeys(HIDDEN, "nn.utils"),
    **{f"optim.{module}": "optim" for module in (
        "adadelta adagrad adam adamax adamw asgd lbfgs nadam optimizer radam rmsprop rprop "
        "sgd").split()},
    **{f"utils.data.{module}": "utils.data" for module in (
        "dataloader dataset sampler").split()},
    "amp.autocast_mode": "amp", "amp.grad_scaler": "amp",
}  # fmt: skip

# Names of PyTorch's files below torch.nn that no package publishes -> the room that has them.
INNER = {
    "init._calculate_fan_in_and_fan_out": "init", "init._calculate_correct_fan": "init",
    "modules.utils._single": "sizes", "modules.utils._pair": "sizes",
    "modules.utils._triple": "sizes", "modules.utils._quadruple": "sizes",
    "modules.utils._ntuple": "sizes",
    "modules.conv._ConvNd": "convolution", "modules.batchnorm._NormBase": "normalization",
    "modules.batchnorm._BatchNorm": "normalization",
    "modules.instancenorm._InstanceNorm": "normalization", "modules.loss._Loss": "loss",
    "modules.loss._WeightedLoss": "loss", "parallel.DataParallel": "parallel.data_parallel",
}  # fmt: skip


def package_of(space: str) -> str:
    """The package that publishes what stands below a deeper path; the path itself where it does."""
    if is_file(space):
        return "nn" if space.startswith("nn") else "distributions"
    return DEEPER.get(space, space)


def is_file(path: str) -> bool:
    """Is it a file of PyTorch's that classes are in?"""
    package, _, last = path.rpartition(".")
    known = {"nn.modules": NN_MODULES, "distributions": DISTRIBUTIONS}.get(package, ())
    return last in known
