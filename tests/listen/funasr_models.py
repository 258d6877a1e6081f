"""FunASR's real architectures with tiny random weights (seed 0), written as the folders that its own checkpoints are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
import yaml

HAN = (
    "的一是了我不人在他有这个上们来到时大地为子中你说生国年着就那和要她出也得里后自以会家可下而过天去能对"
    "小多然于心学么之都好看起发当没成只如事把还用第样道想作种开美总从无情己面最女但现前些所同日手又行意动"
    "方期它头经长儿回位分爱老因很给名法间斯知世什两次使身者被高已亲其进此话常与活正感"
)
CHARACTERS = [*HAN, *"abcdefghijklmnopqrstuvwxyz0123456789"]
WIDTH = 32
FBANK = {
    **{"fs": 16000, "window": "hamming", "n_mels": 80, "frame_length": 25, "frame_shift": 10},
    **{"lfr_m": 7, "lfr_n": 6, "dither": 0.0},
}
DROPPED = {"dropout_rate": 0.1, "positional_dropout_rate": 0.1}
SANM = {
    **{"output_size": WIDTH, "attention_heads": 2, "linear_units": 64, "num_blocks": 2, **DROPPED},
    **{"attention_dropout_rate": 0.1, "input_layer": "pe", "pos_enc_class": "SinusoidalPositionEncoder"},
    **{"normalize_before": True, "kernel_size": 11, "sanm_shfit": 0, "selfattention_layer_type": "sanm"},
}
DECODER = {
    **{"attention_heads": 2, "linear_units": 64, **DROPPED, "self_attention_dropout_rate": 0.1},
    **{"src_attention_dropout_rate": 0.1, "sanm_shfit": 0},
}


def paraformer(folder: Path) -> Path:
    """SeACo Paraformer: hears the same nonsense in the same sound."""
    tokens = ["<blank>", "<s>", "</s>", *CHARACTERS, "<unk>"]
    config: dict[str, Any] = {
        "model": "SeacoParaformer",
        "model_conf": {
            **{"ctc_weight": 0.0, "lsm_weight": 0.1, "length_normalized_loss": True, "predictor_weight": 1.0},
            **{"predictor_bias": 1, "sampling_ratio": 0.75, "inner_dim": WIDTH, "bias_encoder_type": "lstm"},
            **{"bias_encoder_bid": False, "seaco_lsm_weight": 0.1, "seaco_length_normal": True},
            **{"train_decoder": False, "NO_BIAS": len(tokens) - 1},
        },
        "encoder": "SANMEncoder",
        "encoder_conf": SANM,
        "decoder": "ParaformerSANMDecoder",
        "decoder_conf": {**DECODER, "num_blocks": 2, "att_layer_num": 2, "kernel_size": 11},
        "seaco_decoder": "ParaformerSANMDecoder",
        "seaco_decoder_conf": {
            **{
                **DECODER,
                "num_blocks": 1,
                "kernel_size": 21,
                "use_output_layer": False,
                "wo_input_layer": True,
            }
        },
        "predictor": "CifPredictorV3",
        "predictor_conf": {
            **{"idim": WIDTH, "threshold": 1.0, "l_order": 1, "r_order": 1, "tail_threshold": 0.45},
            **{"smooth_factor2": 0.25, "noise_threshold2": 0.01, "upsample_times": 3, "use_cif1_cnn": False},
            "upsample_type": "cnn_blstm",
        },
        "frontend": "WavFrontend",
        "frontend_conf": FBANK,
        "tokenizer": "CharTokenizer",
        "tokenizer_conf": {"unk_symbol": "<unk>", "split_with_space": True},
    }
    _write(folder, config, len(tokens), 560)
    (folder / "tokens.json").write_text(json.dumps(tokens, ensure_ascii=False), encoding="utf-8")
    (folder / "seg_dict").write_text("".join(f"{c} {c}\n" for c in CHARACTERS), encoding="utf-8")
    _mean_and_variance(folder, 560)
    metas = {
        "tokenizer_conf": {"token_list": "tokens.json", "seg_dict_file": "seg_dict"},
        "frontend_conf": {"cmvn_file": "am.mvn"},
    }
    return _configuration(folder, "auto-speech-recognition", metas)


def punctuation(folder: Path) -> Path:
    """ct-punc."""
    tokens = ["<blank>", "<s>", "</s>", *CHARACTERS, "<unk>"]
    config: dict[str, Any] = {
        "model": "CTTransformer",
        "model_conf": {
            **{
                "ignore_id": 0,
                "embed_unit": WIDTH,
                "att_unit": WIDTH,
                "dropout_rate": 0.1,
                "sentence_end_id": 3,
            },
            **{"punc_list": ["<unk>", "_", "\uff0c", "\u3002", "\uff1f", "\u3001"], "punc_weight": [1.0] * 6},
        },
        "encoder": "SANMEncoder",
        "encoder_conf": {
            **SANM,
            "input_size": WIDTH,
            "num_blocks": 1,
            "attention_dropout_rate": 0.0,
            "padding_idx": 0,
        },
        "tokenizer": "CharTokenizer",
        "tokenizer_conf": {"unk_symbol": "<unk>"},
    }
    _write(folder, config, len(tokens), None)
    (folder / "tokens.json").write_text(json.dumps(tokens, ensure_ascii=False), encoding="utf-8")
    return _configuration(folder, "punctuation", {"tokenizer_conf": {"token_list": "tokens.json"}})


def sensevoice(folder: Path) -> Path:
    """SenseVoiceSmall with a small vocabulary of its own."""
    import sentencepiece

    folder.mkdir(parents=True)
    corpus = folder / "corpus.txt"
    lines = [HAN[at : at + 12] for at in range(0, len(HAN) - 12, 3)] * 20
    corpus.write_text(
        "\n".join([*lines, *["the quick brown fox jumps over the lazy dog"] * 20]), encoding="utf-8"
    )
    tags = "zh en yue ja ko nospeech NEUTRAL HAPPY SAD ANGRY EMO_UNKNOWN Speech BGM Laughter Applause withitn woitn"
    name = "chn_jpn_yue_eng_ko_spectok.bpe"
    sentencepiece.SentencePieceTrainer.train(
        input=str(corpus), model_prefix=str(folder / name), vocab_size=240, model_type="bpe", character_coverage=1.0,
        user_defined_symbols=[f"<|{tag}|>" for tag in tags.split()], minloglevel=2,
    )  # fmt: skip
    corpus.unlink()
    size = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{name}.model")).get_piece_size()
    config: dict[str, Any] = {
        "model": "SenseVoiceSmall",
        "model_conf": {"length_normalized_loss": True, "sos": 1, "eos": 2, "ignore_id": -1},
        "encoder": "SenseVoiceEncoderSmall",
        "encoder_conf": {**SANM, "tp_blocks": 1},
        "frontend": "WavFrontend",
        "frontend_conf": {key: value for key, value in FBANK.items() if key != "dither"},
        "tokenizer": "SentencepiecesTokenizer",
        "tokenizer_conf": {"bpemodel": None, "unk_symbol": "<unk>", "split_with_space": True},
        "ctc_conf": {"dropout_rate": 0.0, "ctc_type": "builtin", "reduce": True, "ignore_nan_grad": True},
    }
    _write(folder, config, size, 560)
    _mean_and_variance(folder, 560)
    metas = {"tokenizer_conf": {"bpemodel": f"{name}.model"}, "frontend_conf": {"cmvn_file": "am.mvn"}}
    return _configuration(folder, "auto-speech-recognition", metas)


def _write(folder: Path, config: dict[str, Any], vocabulary: int, width: int | None) -> None:
    """``config.yaml``, and the weights of the class it names."""
    import funasr  # noqa: F401  # registers the classes
    from funasr.register import tables

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(
        yaml.safe_dump(config, allow_unicode=True, sort_keys=False), encoding="utf-8"
    )
    torch.manual_seed(0)
    plain = json.loads(json.dumps(config))
    given = {
        **plain.get("model_conf", {}),
        **{key: value for key, value in plain.items() if key != "model_conf"},
    }
    given["vocab_size"] = vocabulary
    if width:
        given["input_size"] = width
    torch.save(tables.model_classes[config["model"]](**given).state_dict(), folder / "model.pt")


def _mean_and_variance(folder: Path, width: int) -> None:
    shift, scale = " ".join(["-8.0"] * width), " ".join(["0.2"] * width)
    (folder / "am.mvn").write_text(
        f"<Nnet>\n<Splice> {width} {width}\n[ 0 ]\n<AddShift> {width} {width}\n<LearnRateCoef> 0 [ {shift} ]\n"
        f"<Rescale> {width} {width}\n<LearnRateCoef> 0 [ {scale} ]\n</Nnet>\n"
    )


def _configuration(folder: Path, task: str, metas: dict[str, Any]) -> Path:
    """``configuration.json``, by which FunASR's loader finds the files."""
    record = {
        **{
            "framework": "pytorch",
            "task": task,
            "model": {"type": "funasr"},
            "pipeline": {"type": "funasr-pipeline"},
        },
        "file_path_metas": {"init_param": "model.pt", "config": "config.yaml", **metas},
    }
    (folder / "configuration.json").write_text(json.dumps(record))
    return folder
