"""Whisper by torch: the same weights, features, text and times as CTranslate2's, in the number format the policy allows."""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import ctranslate2
import numpy as np
import pytest
import torch
from ctranslate2.specs import WhisperSpec
from faster_whisper import WhisperModel
from faster_whisper.feature_extractor import FeatureExtractor
from safetensors.torch import save_file
from torch.utils._python_dispatch import TorchDispatchMode

from pipelines.asr import RECOGNIZERS, EngineContext, RecognitionOptions
from pipelines.asr.listener import WhisperListener
from pipelines.asr.scoring import score
from pipelines.asr.whisper_torch import checkpoint
from pipelines.asr.whisper_torch.ctranslate2_file import named_as_checkpoint, read_variables
from pipelines.asr.whisper_torch.decoding import NEVER, Rules
from pipelines.asr.whisper_torch.engine import WhisperTorch
from pipelines.asr.whisper_torch.features import fitting_torchaudio
from pipelines.asr.whisper_torch.model import TorchWhisperModel, load_model
from pipelines.asr.whisper_torch.timing import cheapest_path
from pipelines.backend.policy import Policy, choose
from pipelines.errors import EngineMissing, WeightsMissing
from pipelines.progress import NullReport
from pipelines.settings import Settings
from pipelines.types import Segment
from pipelines.weights import locate, present
from tests.listen.conftest import samples_of
from tests.listen.test_whisper import MANDARIN, text_of
from tests.setup.test_backend import CUDA, NONE, ROCM
from ui.banner import engine_table

NATURE = "Some call me nature, others call me mother nature."
AMD = choose(ROCM, environment={})
APPLE = replace(AMD, family="mps", device="mps", safe_mode=False)


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """Threads of torch wait for each other; where other work runs beside the tests, one is quicker."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def engine() -> WhisperTorch:
    """What a job that asks for ``whisper`` gets on an AMD card, its torch device played by the CPU."""
    settings = Settings.load()
    if not present(settings, "whisper-base"):
        pytest.skip("the Whisper model files are not on this computer")
    found = RECOGNIZERS.get("whisper", EngineContext(settings, replace(AMD, device="cpu")))
    assert isinstance(found, WhisperTorch)
    return found


@pytest.fixture(scope="module")
def peer(engine: WhisperTorch) -> WhisperListener:
    """CTranslate2 in the same number format, listening in the same way."""
    settings = Settings.load()
    folder = locate(settings, "whisper-base")
    return WhisperListener(
        settings, WhisperModel(str(folder), device="cpu", compute_type="float32", cpu_threads=2)
    )


def heard(listener: WhisperListener, path: Path, **options: Any) -> list[Segment]:
    return list(listener.recognize(path, RecognitionOptions(**options), NullReport()).segments)


# ------------------------------------------------------------------------------------------------ which engine


def test_amd_and_apple_get_torch_and_the_banner_says_why() -> None:
    settings = Settings.load()
    for policy in (AMD, APPLE):
        context = EngineContext(settings, policy)
        assert RECOGNIZERS.chosen("whisper", context) == "whisper-torch"
        state = RECOGNIZERS.state("whisper", context)
        assert state.state == "unsupported here"
        assert RECOGNIZERS.chosen("whisper-large-v3", context) == "whisper-large-v3-torch"
        assert state.reason.en == f"whisper does not run on {policy.family}; whisper-torch does its work here"
        assert "whisper-torch" in state.reason.zh
        entries = [(RECOGNIZERS.part, RECOGNIZERS.info("whisper"), state)]
        assert state.reason.en in engine_table(entries, "en")


def test_ctranslate2_stays_where_it_runs() -> None:
    assert RECOGNIZERS.infos()[0].name == "whisper"
    for machine in (CUDA, NONE):
        context = EngineContext(Settings.load(), choose(machine, environment={}))
        assert RECOGNIZERS.chosen("whisper", context) == "whisper"


def test_a_torchaudio_of_another_build_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "torchaudio"]:
        monkeypatch.delitem(sys.modules, name)

    class Broken:
        def find_spec(self, name: str, *_: object) -> None:
            if name == "torchaudio":
                raise OSError("libtorchaudio.so: undefined symbol")

    monkeypatch.setattr(sys, "meta_path", [Broken(), *sys.meta_path])
    with pytest.raises(
        EngineMissing, match=r"torchaudio does not work with torch .*undefined symbol"
    ) as caught:
        fitting_torchaudio()
    assert "--cpu" in caught.value.todo.en


# ------------------------------------------------------------------------------------------- beside CTranslate2


def test_features_encoder_and_language_equal_those_of_ctranslate2(
    engine: WhisperTorch, peer: WhisperListener, data: Path
) -> None:
    sound = samples_of(data / "speech" / "zh_asr_example.wav")
    features = engine._model.feature_extractor(sound)
    expected = FeatureExtractor()(sound)
    assert features.shape == expected.shape
    assert np.abs(features - expected).max() < 1e-3
    window = np.zeros((80, 3000), np.float32)
    window[:, : features.shape[1] - 1] = features[:, :-1]
    ours, theirs = engine._model.encode(window), peer._model.encode(window)
    values = np.asarray(theirs)
    assert np.abs(ours.numpy() - values).max() < 1e-3 * np.abs(values).max()
    (found,), (wanted,) = engine._model.model.detect_language(ours), peer._model.model.detect_language(theirs)
    assert found[0][0] == wanted[0][0] == "<|zh|>"
    assert found[0][1] == pytest.approx(wanted[0][1], abs=0.005)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "hotwords"),
    [("en_voice_ref.wav", ()), ("zh_hotword.wav", ("获刑",))],
    ids=["English", "Mandarin"],
)
def test_the_same_words_at_the_same_times(
    engine: WhisperTorch, peer: WhisperListener, data: Path, name: str, hotwords: tuple[str, ...]
) -> None:
    path, language = data / "speech" / name, name[:2]
    said = (MANDARIN | {"en_voice_ref.wav": NATURE})[name]
    ours, theirs = (heard(each, path, language=language, hotwords=hotwords) for each in (engine, peer))
    errors, expected = (score(said, text_of(found, language), language).errors for found in (ours, theirs))
    assert errors <= expected + 1
    assert not hotwords or "获刑" in text_of(ours, language)
    words, reference = ([word for part in found for word in part.words] for found in (ours, theirs))
    assert [word.text for word in words] == [word.text for word in reference]
    edges = [
        abs(a - b)
        for one, other in zip(words, reference, strict=True)
        for a, b in ((one.start, other.start), (one.end, other.end))
    ]
    assert np.median(edges) <= 0.1
    assert np.percentile(edges, 90) <= 0.25


def test_silence_and_noise_stay_empty(engine: WhisperTorch, wav: Any) -> None:
    noise = np.random.default_rng(3).normal(0, 0.05, 16_000 * 8).astype(np.float32)
    assert heard(engine, wav(np.zeros(16_000 * 8, np.float32), "silence.wav")) == []
    assert heard(engine, wav(noise, "noise.wav")) == []


# ------------------------------------------------------------------------------------- files, formats, precision


def tiny(folder: Path, quantization: str) -> Path:
    """A random Whisper of two layers with CTranslate2's own writer, beside the real tokeniser."""
    random = np.random.default_rng(5)
    width, mels, vocabulary = 128, 80, 51865
    spec = WhisperSpec(2, 2, 2, 2)

    def linear(layer: Any, rows: int, columns: int) -> None:
        layer.weight, layer.bias = values(rows, columns), values(rows)

    def values(*shape: int) -> Any:
        return random.normal(0, 0.1, shape).astype(np.float32)

    def norm(layer: Any) -> None:
        layer.gamma, layer.beta = 1 + values(width), values(width)

    for part, places in ((spec.encoder, 1500), (spec.decoder, 448)):
        part.position_encodings.encodings = values(places, width)
        norm(part.layer_norm)
        for layer in part.layer:
            norm(layer.self_attention.layer_norm)
            norm(layer.ffn.layer_norm)
            linear(layer.self_attention.linear[0], 3 * width, width)
            layer.self_attention.linear[0].bias[width : 2 * width] = 0
            linear(layer.self_attention.linear[1], width, width)
            linear(layer.ffn.linear_0, 4 * width, width)
            linear(layer.ffn.linear_1, width, 4 * width)
    for layer in spec.decoder.layer:
        norm(layer.attention.layer_norm)
        linear(layer.attention.linear[0], width, width)
        linear(layer.attention.linear[1], 2 * width, width)
        layer.attention.linear[1].bias[:width] = 0
        linear(layer.attention.linear[2], width, width)
    linear(spec.encoder.conv1, width, mels)
    linear(spec.encoder.conv2, width, width)
    spec.encoder.conv1.weight, spec.encoder.conv2.weight = values(width, mels, 3), values(width, width, 3)
    spec.decoder.embeddings.weight = values(vocabulary, width)
    spec.decoder.projection.weight = spec.decoder.embeddings.weight
    spec.register_vocabulary([f"t{number}" for number in range(vocabulary)])
    spec.config.alignment_heads, spec.config.lang_ids = [(1, 0)], [50259, 50260]
    spec.config.suppress_ids, spec.config.suppress_ids_begin = [1, 2], [220, 50257]
    spec.validate()
    spec.optimize(quantization)
    folder.mkdir()
    spec.save(str(folder))
    shutil.copy(locate(Settings.load(), "whisper-base") / "tokenizer.json", folder)
    return folder


FEATURES = np.random.default_rng(6).normal(0, 0.5, (1, 80, 3000)).astype(np.float32)


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if not present(Settings.load(), "whisper-base"):
        pytest.skip("the Whisper model files are not on this computer")
    return tiny(tmp_path_factory.mktemp("models") / "small", "float32")


@pytest.mark.parametrize("quantization", ["int8", "float16"])
def test_every_number_format_of_ctranslate2_is_read(tmp_path: Path, small: Path, quantization: str) -> None:
    folder = tiny(tmp_path / quantization, quantization)
    ours = load_model(folder, Policy(threads=1)).model.encode(FEATURES).numpy()
    reader = ctranslate2.models.Whisper(str(folder), compute_type="float32", intra_threads=1)
    theirs = np.asarray(reader.encode(ctranslate2.StorageView.from_array(FEATURES)))
    assert np.abs(ours - theirs).max() < 2e-3 * np.abs(theirs).max()
    exact = load_model(small, Policy(threads=1)).model.encode(FEATURES).numpy()
    assert 0 < np.abs(ours - exact).max() < 0.2 * np.abs(exact).max()


def test_a_safetensors_folder_is_read(small: Path, tmp_path: Path) -> None:
    tensors = named_as_checkpoint(read_variables(small / "model.bin"))
    tensors = {name: tensor.clone().contiguous() for name, tensor in tensors.items()}
    save_file(
        {**tensors, "proj_out.weight": tensors["model.decoder.embed_tokens.weight"].clone()},
        tmp_path / "model.safetensors",
    )
    (tmp_path / "config.json").write_text(json.dumps({"decoder_attention_heads": 2}), encoding="utf-8")
    said = {"lang_to_id": {"<|en|>": 50259}, "begin_suppress_tokens": [220, 50257]}
    (tmp_path / "generation_config.json").write_text(json.dumps(said), encoding="utf-8")
    network, facts = checkpoint.load(tmp_path, torch.device("cpu"), torch.float32)
    assert facts == checkpoint.Facts(((1, 0), (1, 1)), (50259,), (220, 50257))
    expected = load_model(small, Policy(threads=1)).model.encode(FEATURES)
    with torch.inference_mode():
        assert torch.equal(network.encoder(torch.from_numpy(FEATURES)), expected)


def test_a_broken_folder_is_refused_in_one_sentence(small: Path, tmp_path: Path) -> None:
    shutil.copy(small / "config.json", tmp_path)
    with pytest.raises(WeightsMissing, match=r"generation_config\.json"):
        checkpoint.load(tmp_path, torch.device("cpu"), torch.float32)
    whole = (small / "model.bin").read_bytes()
    for part, what in (
        (whole[:100_000], "ends too early"),
        (b"\x06\0\0\0\x04\0Wav\0" + whole[20:400], "'Wav'"),
    ):
        (tmp_path / "model.bin").write_bytes(part)
        with pytest.raises(WeightsMissing, match=f"not a Whisper model of CTranslate2.*{what}"):
            checkpoint.load(tmp_path, torch.device("cpu"), torch.float32)


class Seen(TorchDispatchMode):
    """Number formats of all floating tensors that operators make."""

    def __init__(self) -> None:
        super().__init__()
        self.kinds: set[torch.dtype] = set()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for item in made if isinstance(made, list | tuple) else (made,):
            if isinstance(item, torch.Tensor) and item.is_floating_point():
                self.kinds.add(item.dtype)
        return made


PROMPT = [50258, 50259, 50359]
ASKED: dict[str, Any] = {
    "max_length": 448,
    "suppress_blank": True,
    "suppress_tokens": [50257],  # no end, so that the search is long enough to be seen
    "max_initial_timestamp_index": 50,
}


def everything(model: TorchWhisperModel) -> Seen:
    """Every computation the engine does, with the number formats that were met."""
    with Seen() as seen:
        encoded = model.encode(FEATURES)
        model.model.detect_language(encoded)
        model.model.generate(encoded, [PROMPT], **{**ASKED, "max_length": 24}, beam_size=5)
        model.model.align(encoded, PROMPT, [[400, 500]], 2000, median_filter_width=7)
    return seen


def test_safe_mode_computes_in_no_half_precision(small: Path) -> None:
    assert AMD.safe_mode
    assert half_of(everything(load_model(small, replace(AMD, device="cpu")))) == set()
    without = choose(ROCM, no_half=True, safe_mode=False, environment={})
    assert half_of(everything(load_model(small, replace(without, device="cpu")))) == set()


def test_outside_safe_mode_the_policys_precision_is_used(small: Path) -> None:
    free = replace(choose(ROCM, safe_mode=False, environment={}), device="cpu")
    model = load_model(small, free)
    assert half_of(everything(model)) == {torch.bfloat16}
    exact = load_model(small, Policy(threads=1)).encode(FEATURES)
    assert (model.encode(FEATURES).float() - exact).abs().max() < 0.1 * exact.abs().max()


def half_of(seen: Seen) -> set[torch.dtype]:
    assert torch.float32 in seen.kinds
    return seen.kinds & {torch.float16, torch.bfloat16}


def test_drawn_texts_are_the_same_every_time(small: Path) -> None:
    model = load_model(small, Policy(threads=1))
    encoded = model.encode(FEATURES)
    drawn = [
        model.model.generate(
            encoded,
            [PROMPT],
            **{**ASKED, "max_length": 20},
            beam_size=1,
            num_hypotheses=3,
            sampling_temperature=0.8,
        )[0]
        for _ in range(2)
    ]
    assert drawn[0] == drawn[1]
    assert len(drawn[0].sequences_ids[0]) == 10
    assert 0 <= drawn[0].no_speech_prob <= 1


# ---------------------------------------------------------------------------------------------------- the rules


def allowed(written: list[int], likely: int | None = None) -> set[int]:
    """What may follow: 0-3 text, 4 the end, 5 a mark, 6 no times, 7-12 times; ``likely`` is nearly certain."""
    rules = Rules(end=4, first_time=7, latest_start=9, suppressed=(5, 3), suppressed_first=(0, 4))
    logits = torch.zeros(1, 13)
    if likely is not None:
        logits[0, likely] = 20.0
    found = rules.apply(logits, [written])[0]
    assert found.exp().sum() == pytest.approx(1, abs=1e-5)
    return {token for token, value in enumerate(found.tolist()) if value > NEVER}


def test_times_come_in_pairs_and_never_go_back() -> None:
    assert allowed([]) == {7, 8, 9}, "a text begins with an early time"
    assert allowed([8], likely=1) == {0, 1, 2, 4}, "then with words"
    assert allowed([8, 1], likely=1) == {0, 1, 2, 4, 8, 9, 10, 11, 12}
    assert allowed([8, 1]) == {8, 9, 10, 11, 12}, "all times together are likelier than any word"
    assert allowed([8, 1, 10], likely=4) == {4, 10, 11, 12}, "after an end only a beginning or the end of all"
    assert allowed([8, 1, 10, 10], likely=2) == {0, 1, 2, 4}


def test_the_cheapest_path_is_found() -> None:
    random = np.random.default_rng(9)
    for rows, columns in ((1, 6), (4, 7), (6, 3)):
        cost = random.normal(size=(rows, columns))
        total = np.full((rows, columns), np.inf)
        for row, column in itertools.product(range(rows), range(columns)):
            before = [
                total[row - down, column - on]
                for down, on in ((1, 1), (1, 0), (0, 1))
                if row >= down and column >= on
            ]
            total[row, column] = cost[row, column] + (min(before) if before else 0.0)
        path = cheapest_path(cost)
        assert path[0] == (0, 0)
        assert path[-1] == (rows - 1, columns - 1)
        assert sum(cost[place] for place in path) == pytest.approx(total[-1, -1])
        assert all(
            (b[0] - a[0], b[1] - a[1]) in {(1, 1), (1, 0), (0, 1)} for a, b in itertools.pairwise(path)
        )
