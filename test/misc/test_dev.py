# SPDX-License-Identifier: Apache-2.0
"""The commands of ./dev, on small trees that stand in for the project."""
import importlib.machinery
import importlib.util
import pathlib
import shutil
import subprocess
import sys

import pytest

from scripts import check_layers, conformance_tests, cpp_tests, project

ROOT = pathlib.Path(__file__).resolve().parents[2]
LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"


def load_dev():
    loader = importlib.machinery.SourceFileLoader("dev", str(ROOT / "dev"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("dev", loader))
    sys.dont_write_bytecode, before = True, sys.dont_write_bytecode
    loader.exec_module(module)
    sys.dont_write_bytecode = before
    return module


dev = load_dev()


@pytest.fixture
def tree(tmp_path):
    """A copy of the infrastructure without any source."""
    for name in ("CMakeLists.txt", "CMakePresets.json", "dev", ".clang-format", ".clang-tidy"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name in ("cmake", "scripts"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path


def write(tree, name, text):
    path = tree / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(LICENCE + text, encoding="utf-8")


@pytest.mark.parametrize("words, own, passed_on", [
    (["conformance", "--profile", "fp", "exp"], "conformance", ["--profile", "fp", "exp"]),
    (["random-graphs", "--count", "3"], "random_graphs", ["--count", "3"]),
    (["partition", "--help"], "partition", ["--help"]),
    (["bench", "growth", "--depths", "1,2"], "bench", ["--depths", "1,2"]),
    (["conformance"], "conformance", []),
])
def test_arguments_of_a_runner_reach_it(words, own, passed_on):
    options = dev.parse(words)
    assert (options.action, options.arguments) == (getattr(dev, own), passed_on)


def run_dev(tree, *arguments):
    done = subprocess.run([tree / "dev", *arguments], cwd=tree, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT)
    return done.returncode, done.stdout


@pytest.mark.parametrize("source, included, fine", [
    ("ir/a.h", "support/b.h", True),
    ("support/a.cpp", "ir/b.h", False),
    ("ir/a.cpp", "ir/sub/b.h", True),
    ("ir/a.cpp", "numeric/b.h", False),
    ("quant/a.cpp", "passes/b.h", True),
    ("passes/a.cpp", "partition/b.h", True),
    ("passes/a.cpp", "ethosu/b.h", False),
    ("ethosu/a.cpp", "pte/b.h", False),
    ("cli/main.cpp", "driver/b.h", True),
    ("aten/ops/a.cpp", "tosa/tosa_generated.h", True),
    ("aten/ops/a.cpp", "target/b.h", False),
    ("aten/ops/a_test.cpp", "target/b.h", True),
    ("aten/ops/a_test.cpp", "driver/b.h", False),
    ("aten/ops/a.cpp", "gtest/gtest.h", True),
    ("aten/ops/a.cpp", "../b.h", False),
    ("utils/a.cpp", "support/b.h", False),
])  # fmt: skip
def test_an_include_points_to_a_lower_layer(source, included, fine):
    messages = check_layers.check_file(source, f'{LICENCE}\n#include "{included}"\n')
    assert (messages == []) == fine, messages


def test_the_build_and_the_layer_check_know_the_same_layers():
    text = (ROOT / "CMakeLists.txt").read_text()
    layers = text.split("set(TOSAIC_LAYERS ")[1].split(")")[0].split()
    assert layers == list(check_layers.RANKS)


@pytest.mark.parametrize("expression, expected", [
    ("conv", ["Conv.Pads", "Conv.Strides"]),
    ("conv and not pads", ["Conv.Strides"]),
    ("strides or cat", ["Conv.Strides", "Cat.Axis"]),
    ("not (conv or cat)", []),
])
def test_k_selects_cpp_tests_as_pytest_does(expression, expected):
    assert cpp_tests.select(["Conv.Pads", "Conv.Strides", "Cat.Axis"], expression) == expected


def test_k_with_a_broken_expression_is_an_error():
    with pytest.raises(project.Failure, match="expected words"):
        cpp_tests.select(["A.B"], "a and (")


def test_flags_and_commands_may_have_underscores_and_values_keep_theirs():
    given = ["new_op", "--no_tidy", "--target=tosaic_tests", "max_pool2d"]
    assert dev.spelled_with_dashes(given) == ["new-op", "--no-tidy", "--target=tosaic_tests", "max_pool2d"]


def test_an_empty_tree_configures_and_builds(tree):
    status, output = run_dev(tree, "build")
    assert status == 0, output


SAMPLE = """#include <gtest/gtest.h>
#include <cstdlib>
#include <filesystem>
#include "support/three.h"
#include "test_paths.h"
TEST(Three, Is3) { EXPECT_EQ(three(), 3); }
TEST(Three, Fails) { EXPECT_EQ(three(), 4); }
TEST(Three, Skips) { GTEST_SKIP(); }
TEST(Three, Crashes) { std::abort(); }
TEST(Three, AfterCrash) { EXPECT_EQ(three(), 3); }
TEST(Three, DISABLED_Never) {}
TEST(Three, FindsTheTree) { EXPECT_TRUE(std::filesystem::exists(TOSAIC_SOURCE_DIR "/dev")); }
struct Each : testing::TestWithParam<int> {};
TEST_P(Each, IsPositive) { EXPECT_GT(GetParam(), 0); }
INSTANTIATE_TEST_SUITE_P(All, Each, testing::Values(1, 2));
"""


def test_builds_and_counts(tree):
    """Objects reach the tool through a linker section; schemas are compiled; each case counts once."""
    write(tree, "src/support/three.h", "#pragma once\nint three();\n")
    write(tree, "src/support/three.cpp", '#include "support/three.h"\nint three() { return 3; }\n')
    write(tree, "src/support/three_test.cpp", SAMPLE)
    write(tree, "src/tosa/sample.fbs", "namespace s; table T { x:int; } root_type T;\n")
    row = '#include "tosa/ops/row.h"\n[[gnu::section("rows"), gnu::used]] static const int* const p%d = &three;\n'
    write(tree, "src/tosa/ops/row.h", "#pragma once\ninline constexpr int three = 3;\n")
    for index in range(2):
        write(tree, f"src/tosa/ops/row{index}.cpp", row % index)
    write(tree, "src/cli/main.cpp", '#include "tosa/sample_generated.h"\n'
          "extern const int* const __start_rows[];\nextern const int* const __stop_rows[];\n"
          "int main() { return static_cast<int>(__stop_rows - __start_rows); }\n")
    status, output = run_dev(tree, "test", "src/support/three.cpp")
    assert output.splitlines()[-1] == "5 passed, 4 failed", output
    assert status == 1
    assert "src/support/three_test.cpp:8: Failure" in output
    assert subprocess.run([tree / "build/release/bin/tosaic"]).returncode == 2


def test_lint_finds_each_kind(tree):
    write(tree, "src/support/a.cpp", '#include "ir/b.h"\n')
    write(tree, "src/ir/b.h", "#pragma once\nint  b();\n")
    (tree / "src/ir/c.h").write_text("#pragma once\n")
    write(tree, "src/ir/d.h", "// long\n" * 6000)
    status, output = run_dev(tree, "lint", "--no_tidy")
    assert status == 1
    assert "src/support/a.cpp:2: support (rank 0) may not include ir/b.h" in output
    assert "src/ir/c.h:1: the first lines lack 'SPDX" in output
    assert "src/ir/d.h: 48039 bytes, above 40960" in output
    assert "src/ir/b.h:3:4: ./dev fmt changes this line" in output


def test_tidy_finds_a_bug_and_remembers_clean_files(tree, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tree / "cache"))
    write(tree, "src/support/clean.cpp", "int clean() { return 1; }\n")
    write(tree, "src/support/bug.cpp", "int* bug() { return 0; }\n")
    status, output = run_dev(tree, "lint")
    assert status == 1 and "src/support/bug.cpp:2:21: error: use nullptr" in output, output
    assert len(list((tree / "cache/tosaic/tidy").iterdir())) == 1


def test_new_op_writes_both_files_and_overwrites_none(tree):
    assert run_dev(tree, "new_op", "soft_thing")[0] == 0
    assert "TOSAIC_ATEN_OP(soft_thing)" in (tree / "src/aten/ops/soft_thing.cpp").read_text()
    assert "SoftThing" in (tree / "test/ops/test_soft_thing.py").read_text()
    status, output = run_dev(tree, "new-op", "soft_thing")
    assert status == 1 and "exists already" in output
    assert run_dev(tree, "new-op", "SoftThing")[0] == 1
    write(tree, "src/aten/ops/many.cpp", "TOSAIC_ATEN_OP(soft) = {};\nTOSAIC_ATEN_OP(softer) = {};\n")
    status, output = run_dev(tree, "new-op", "softer")
    assert status == 1 and "src/aten/ops/many.cpp has the row softer already" in output
    assert not (tree / "test/ops/test_softer.py").exists()


@pytest.mark.parametrize("script, flags, message", [
    ("examples/arm/run.sh", ["--model=x"], "the flags are --model_name, --target, --output, --build_only"),
    ("examples/arm/run.sh", ["--build_only"], "--model_name is missing"),
    ("examples/arm/run.sh", ["--model-name="], "--model-name needs a value"),
    ("examples/arm/run.sh", ["--model_name=dscnn", "--target=tosa-int"], "a .pte for an Ethos-U is made here"),
    ("examples/arm/run.sh", ["--model_name=nope"], "there is no network nope in test/models"),
    ("test/setup_testing.sh", ["--fast"], "the flags are --run, --no-build, --recreate"),
])
def test_scripts_name_their_flags_on_a_wrong_one(script, flags, message):
    done = subprocess.run(["bash", ROOT / script, *flags], capture_output=True, text=True)
    assert done.returncode != 0
    assert message in done.stderr


@pytest.mark.parametrize("last, expected", [
    ("12 passed, 0 failed", (12, 1)),  # its exit status says that something else went wrong
    ("12 passed, 3 failed", (12, 3)),
    ("Traceback", None),
])  # fmt: skip
def test_conformance_is_counted_by_its_last_line(tmp_path, monkeypatch, last, expected):
    write_runner(tmp_path, f"print('1 passed, 9 failed')\nprint({last!r})\nraise SystemExit(1)\n")
    monkeypatch.setattr(project, "ROOT", tmp_path)
    if expected is None:
        with pytest.raises(project.Failure, match="status 1 and no total"):
            conformance_tests.run("release", "int")
    else:
        assert conformance_tests.run("release", "int") == expected


def test_conformance_of_both_signs_is_asked_for(tmp_path, monkeypatch):
    write_runner(tmp_path, "import sys\nassert sys.argv[1:] == ['--profile', 'fp']\nprint('7 passed, 0 failed')\n")
    monkeypatch.setattr(project, "ROOT", tmp_path)
    assert conformance_tests.run("release", "fp") == (7, 0)


def write_runner(folder, text):
    (folder / "test").mkdir()
    (folder / "test" / "__init__.py").touch()
    (folder / "test" / "conformance.py").write_text(text)


@pytest.mark.parametrize("full", [False, True])
def test_ci_runs_the_whole_matrix_only_when_asked(monkeypatch, capsys, full):
    ran = []
    monkeypatch.setattr(dev, "lint", lambda _: ran.append("lint"))
    monkeypatch.setattr(project, "build", lambda preset, *_: ran.append(preset))
    monkeypatch.setattr(dev, "run_tests", lambda preset, *_: (10, 0))
    monkeypatch.setattr(dev.py_tests, "run", lambda *_, **more: ran.append(more["flags"]) or (100, 1))
    monkeypatch.setattr(dev.conformance_tests, "run", lambda _, profile: ran.append(profile) or (1000, 0))
    monkeypatch.setattr(dev.fuzz, "run", lambda preset, targets, *_: (len(targets), 0))
    status = dev.ci(dev.make_parser().parse_args(["ci"] + ["--full"] * full))
    assert ran == ["lint", "release", "dev", "dev"] + [["--full"], "int", "fp"] * full
    assert status == int(full)
    last = capsys.readouterr().out.splitlines()[-1]
    assert last == ("2138 passed, 1 failed" if full else "38 passed, 0 failed")


def test_a_build_is_configured_again_when_executorch_was_installed_after_it(tmp_path, monkeypatch):
    monkeypatch.setattr(project, "ROOT", tmp_path)
    monkeypatch.setattr(project, "python", lambda: tmp_path / ".venv" / "bin" / "python")
    assert not project.is_configured("release")
    write(tmp_path, "build/release/build.ninja", "build bin/tosaic: link\n")
    assert project.is_configured("release")
    write(tmp_path, ".venv/lib/python3.11/site-packages/executorch/lib/libexecutorch.so", "")
    assert not project.is_configured("release")
    write(tmp_path, "build/release/build.ninja", "build bin/tosaic: link\nbuild lib/libtosaic_standin.so: link\n")
    assert project.is_configured("release")
