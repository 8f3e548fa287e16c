# SPDX-License-Identifier: Apache-2.0
"""Post-training quantisation of exported programs by the quantisers that ExecuTorch ships (PT2E
flow)."""

import logging
import warnings

import torch

warnings.filterwarnings("ignore")
logging.disable(logging.WARNING)  # both libraries warn about every missing optional package

from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e  # noqa: E402


def arm_quantizer():
    """ExecuTorch's quantiser for TOSA-1.0+INT: int8, weights per channel."""
    from executorch.backends.arm.quantizer import TOSAQuantizer, get_symmetric_quantization_config
    from executorch.backends.arm.tosa.compile_spec import TosaCompileSpec

    return TOSAQuantizer(TosaCompileSpec("TOSA-1.0+INT")).set_global(
        get_symmetric_quantization_config()
    )


def ethosu_quantizer():
    """ExecuTorch's quantiser for Ethos-U55-128."""
    from executorch.backends.arm.ethosu import EthosUCompileSpec
    from executorch.backends.arm.quantizer import EthosUQuantizer, get_symmetric_quantization_config

    return EthosUQuantizer(EthosUCompileSpec("ethos-u55-128")).set_global(
        get_symmetric_quantization_config()
    )


def xnnpack_quantizer():
    """ExecuTorch's XNNPACKQuantizer: int8, weights per channel."""
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )

    return XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))


QUANTIZERS = {"arm": arm_quantizer, "ethosu": ethosu_quantizer, "xnnpack": xnnpack_quantizer}


def quantize(program, calibration, quantizer="arm"):
    """Returns the converted graph module of `program`, calibrated on a list of input tuples.

    The module computes the fake-quantised function and can be exported again."""
    prepared = prepare_pt2e(program.module(check_guards=False), QUANTIZERS[quantizer]())
    with torch.no_grad():
        for inputs in calibration:
            prepared(*inputs)
    return convert_pt2e(prepared)
