"""Downloads against a real server that fails in the ways that servers fail."""

import hashlib
import io
import os
import signal
import socket
import subprocess
import sys
import textwrap
import time
import zipfile

import numpy as np
import pytest
import scipy.sparse
from download_cases import mat_file, promoter_file, r_file, small_server

from fsel_book.downloads import (
    Origin,
    RemoteFile,
    checksum,
    convert_counts,
    convert_expressions,
    convert_ozone,
    convert_promoters,
    convert_proteins,
    convert_r_list,
    convert_vowels,
    fetch_file,
    load_origin,
    store,
)
from fsel_book.readers import LabelledData, read_matrix, read_sequences

CONTENT = bytes(range(256)) * 40
SHA256 = hashlib.sha256(CONTENT).hexdigest()


@pytest.fixture
def server(monkeypatch):
    """A web server on this computer with one file."""
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("FSEL_BOOK_MIRROR", raising=False)
    with small_server() as server:
        server.files["/set.bin"] = CONTENT
        yield server


def known(server, path="/set.bin"):
    return RemoteFile(server.address + path, len(CONTENT), SHA256)


def fetch(file, **options):
    """Fetch without pauses."""
    return fetch_file(file, pause=0, **options)


# ---------------------------------------------------------------- what servers do


def test_a_file_arrives_whole(server):
    assert fetch(known(server)) == CONTENT == fetch(RemoteFile(known(server).address))


def test_a_redirect_is_followed(server):
    def elsewhere(handler):
        handler.send_response(302)
        handler.send_header("Location", "/set.bin")
        handler.end_headers()

    server.files["/old/set.bin"] = elsewhere
    assert fetch(known(server, "/old/set.bin")) == CONTENT
    assert server.asked == ["/old/set.bin", "/set.bin"]


def test_a_redirect_in_circles_ends(server):
    def round_again(handler):
        handler.send_response(302)
        handler.send_header("Location", "/set.bin")
        handler.end_headers()

    server.files["/set.bin"] = round_again
    with pytest.raises(FileNotFoundError, match=r"/set\.bin: HTTP Error 302"):
        fetch(known(server))


@pytest.mark.parametrize(
    ("code", "n_asked", "remedy"),
    [
        (404, 1, "no longer there. Look for set.bin elsewhere"),
        (410, 1, "no longer there. Look for set.bin elsewhere"),
        (403, 1, "Try again with a connection"),
        (500, 3, "Try again with a connection"),
        (503, 3, "Try again with a connection"),
    ],
)
def test_a_refusal_is_tried_again_where_that_may_help(server, code, n_asked, remedy):
    server.files["/set.bin"] = lambda handler: handler.send_error(code)
    with pytest.raises(
        FileNotFoundError,
        match=rf"^{server.address}/set\.bin: HTTP Error {code}: .*{remedy}.*MIRROR",
    ):
        fetch(known(server))
    assert len(server.asked) == n_asked


def test_a_server_that_recovers(server):
    def overloaded(handler):
        server.files["/set.bin"] = CONTENT
        handler.send_error(503)

    server.files["/set.bin"] = overloaded
    assert fetch(known(server)) == CONTENT and len(server.asked) == 2


def cut_short(handler):
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(CONTENT)))
    handler.end_headers()
    handler.wfile.write(CONTENT[:5000])


def test_an_answer_that_ends_too_early(server):
    server.files["/set.bin"] = cut_short
    with pytest.raises(
        FileNotFoundError, match=rf"ends after 5000 of {len(CONTENT)} bytes"
    ):
        fetch(known(server))
    assert len(server.asked) == 3


def test_an_answer_that_ends_too_early_once(server):
    def once(handler):
        server.files["/set.bin"] = CONTENT
        cut_short(handler)

    server.files["/set.bin"] = once
    assert fetch(known(server)) == CONTENT


def test_an_answer_in_chunks_that_ends_too_early(server):
    def chunks(handler):
        handler.send_response(200)
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.wfile.write(b"10\r\n" + CONTENT[:16] + b"\r\n10\r\n" + CONTENT[:4])

    server.files["/set.bin"] = chunks
    with pytest.raises(FileNotFoundError, match=r"/set\.bin: .*Try again"):
        fetch(known(server))
    assert len(server.asked) == 3


def test_an_answer_without_a_length_that_ends_too_early(server):
    def no_length(handler):
        handler.send_response(200)
        handler.end_headers()
        handler.wfile.write(CONTENT[:5000])

    server.files["/set.bin"] = no_length
    with pytest.raises(ValueError, match=rf"5000 bytes, expected {len(CONTENT)}"):
        fetch(known(server))


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (CONTENT[::-1], f"SHA-256 [0-9a-f]{{64}}, expected {SHA256}"),
        (CONTENT[:-1], f"{len(CONTENT) - 1} bytes, expected {len(CONTENT)}"),
        (CONTENT + b"\0", f"more than {len(CONTENT)} bytes"),
        (b"<html>Log in</html>", f"19 bytes, expected {len(CONTENT)}"),
    ],
)
def test_another_file_in_its_place(server, content, says):
    server.files["/set.bin"] = content
    with pytest.raises(
        ValueError,
        match=rf"^{server.address}/set\.bin: {says}.*Nothing was kept.*MIRROR",
    ):
        fetch(known(server))
    assert len(server.asked) == 1


def test_a_server_that_falls_silent(server):
    server.files["/set.bin"] = lambda handler: time.sleep(1)
    start = time.monotonic()
    with pytest.raises(FileNotFoundError, match=r"/set\.bin: .*timed out"):
        fetch(known(server), timeout=0.1, n_tries=2)
    assert len(server.asked) == 2 and time.monotonic() - start < 1


def test_a_server_that_trickles(server):
    """Each byte comes in time, and all of them never would."""

    def trickle(handler):
        handler.send_response(200)
        handler.end_headers()
        for byte in CONTENT[:200]:
            handler.wfile.write(bytes([byte]))
            handler.wfile.flush()
            time.sleep(0.02)

    server.files["/set.bin"] = trickle
    start = time.monotonic()
    with pytest.raises(FileNotFoundError, match=r"only \d+ bytes arrived in time"):
        fetch(known(server), timeout=1, patience=0.2, n_tries=1)
    assert time.monotonic() - start < 2


def test_no_server_at_all(monkeypatch):
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.delenv("FSEL_BOOK_MIRROR", raising=False)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/set.bin"
        with pytest.raises(
            FileNotFoundError, match=f"^{address}: .*Try again with a connection"
        ):
            fetch(RemoteFile(address))


def test_an_answer_that_is_no_http(server):
    server.files["/set.bin"] = lambda handler: handler.wfile.write(b"SSH-2.0\r\n\r\n")
    with pytest.raises(FileNotFoundError, match=r"/set\.bin: .*Try again"):
        fetch(known(server))


def test_a_mirror_has_the_file_under_its_name(server, monkeypatch):
    file = known(server)._replace(address="http://nowhere.invalid/a/b/set.bin")
    for mirror in (server.address, server.address + "/"):
        monkeypatch.setenv("FSEL_BOOK_MIRROR", mirror)
        assert fetch(file) == CONTENT
    assert server.asked == ["/set.bin"] * 2
    server.files["/set.bin"] = CONTENT[::-1]
    with pytest.raises(ValueError, match=rf"^{server.address}/set\.bin: SHA-256"):
        fetch(file)


@pytest.mark.parametrize("mirror", ["server", "nothing://server", "C:/data"])
def test_a_mirror_that_is_no_address(mirror, monkeypatch):
    monkeypatch.setenv("FSEL_BOOK_MIRROR", mirror)
    with pytest.raises(
        (ValueError, FileNotFoundError), match=f"^{mirror}/set.bin: .*unknown url type"
    ):
        fetch(RemoteFile("http://nowhere.invalid/set.bin"))


def test_a_folder_is_a_mirror_too(tmp_path, monkeypatch):
    (tmp_path / "set.bin").write_bytes(CONTENT)
    monkeypatch.setenv("FSEL_BOOK_MIRROR", tmp_path.as_uri())
    file = RemoteFile("http://nowhere.invalid/set.bin", len(CONTENT), SHA256)
    assert fetch(file) == CONTENT
    (tmp_path / "set.bin").unlink()
    with pytest.raises(FileNotFoundError, match=r"/set\.bin: .*No such file"):
        fetch(file)


# ---------------------------------------------------------------- whole or not at all

DENSE = LabelledData(
    np.arange(12, dtype=np.float32).reshape(4, 3),
    np.array(list("aaba")),
    {
        "feature_names": np.array(list("uvw")),
        "is_train": np.array([True] * 3 + [False]),
    },
)
SPARSE = LabelledData(
    scipy.sparse.csr_array(np.array([[0, 2], [3, 0]], dtype=np.int32)),
    np.array([1, 2]),
    {},
)
WORDS = LabelledData(["ACGT", "xYZ"], np.array([-1, 1]), {})


@pytest.mark.parametrize("found", [DENSE, SPARSE, WORDS])
def test_what_is_stored_is_read_again(found, tmp_path):
    is_text = isinstance(found.X, list)
    path = tmp_path / "new" / "folder" / ("set.csv" if is_text else "set.npz")
    store(found, path)
    again = read_sequences(path, [-1, 1]) if is_text else read_matrix(path)
    assert (
        checksum(again) == checksum(found) and again.extra.keys() == found.extra.keys()
    )
    assert os.listdir(path.parent) == [path.name]
    # readable by whom a new file is readable
    plain = tmp_path / "plain"
    plain.write_text("")
    assert path.stat().st_mode == plain.stat().st_mode


def test_the_checksum_sees_each_part():
    others = [
        DENSE,
        DENSE._replace(X=DENSE.X[::-1]),
        DENSE._replace(X=DENSE.X.reshape(3, 4)),
        DENSE._replace(X=np.nextafter(DENSE.X, np.float32(99))),
        DENSE._replace(y=DENSE.y[::-1]),
        DENSE._replace(extra={}),
        SPARSE,
        SPARSE._replace(X=SPARSE.X.toarray()),
        SPARSE._replace(X=SPARSE.X[::-1].tocsr()),
        WORDS,
        WORDS._replace(X=["ACGTx", "YZ"]),
        WORDS._replace(X=["AcGT", "xYZ"]),
    ]
    assert len({checksum(other) for other in others}) == len(others)
    wide = DENSE._replace(X=np.asfortranarray(DENSE.X, dtype=np.float64))
    assert checksum(wide) == checksum(DENSE)


@pytest.mark.skipif(os.name == "nt", reason="the limit is one of POSIX")
def test_a_disk_that_is_full(tmp_path):
    """The system refuses the file beyond its first 100 bytes."""
    program = """
        import pathlib, resource, sys
        import numpy as np
        from fsel_book.downloads import store
        from fsel_book.readers import LabelledData

        X = np.random.default_rng(0).standard_normal((50, 50))
        resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
        try:
            store(LabelledData(X, np.arange(50), {}), pathlib.Path(sys.argv[1]))
        except OSError as error:
            print(error)
    """
    path = tmp_path / "cache" / "set.npz"
    says = run_python(program, path)
    assert f"{path}: cannot be written" in says and "data_home" in says
    assert os.listdir(path.parent) == []


@pytest.mark.skipif(os.name == "nt", reason="signals are those of POSIX")
def test_a_program_that_is_stopped_leaves_no_file_of_that_name(tmp_path):
    program = """
        import os, pathlib, sys
        import numpy as np
        from fsel_book.downloads import store
        from fsel_book.readers import LabelledData

        rename = os.replace
        os.replace = lambda *paths: os.kill(os.getpid(), 9)
        store(LabelledData(np.eye(2), np.arange(2), {}), pathlib.Path(sys.argv[1]))
    """
    path = tmp_path / "set.npz"
    process = subprocess.run([sys.executable, "-c", textwrap.dedent(program), path])
    assert process.returncode == -signal.SIGKILL and not path.exists()
    store(DENSE, path)
    assert read_matrix(path).y.tolist() == list("aaba")


def test_a_folder_that_is_a_file(tmp_path):
    (tmp_path / "cache").write_text("")
    with pytest.raises(OSError, match=r"set\.npz: cannot be written .*data_home"):
        store(DENSE, tmp_path / "cache" / "set.npz")


def run_python(program, *arguments):
    """The output of a program of its own."""
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_two_processes_at_once(server, tmp_path):
    """Both ask before either has an answer; both get the set, and one file is left."""
    text = b"".join(b"ACGT 1\nTTGA -1\n" for _ in range(1000))

    def slow(handler):
        deadline = time.monotonic() + 60
        while len(server.asked) < 2 and time.monotonic() < deadline:
            time.sleep(0.01)
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(text)))
        handler.end_headers()
        handler.wfile.write(text)

    server.files["/words.txt"] = slow
    program = """
        import sys
        from pathlib import Path
        from fsel_book.downloads import *

        address, content, path = sys.argv[1:]
        file = RemoteFile(address)
        store(load_origin(Origin((file,), convert_proteins, content, "")), Path(path))
    """
    path = tmp_path / "words.csv"
    arguments = [f"{server.address}/words.txt", checksum(convert_proteins(text)), path]
    command = [sys.executable, "-c", textwrap.dedent(program), *map(str, arguments)]
    pair = [subprocess.Popen(command) for _ in range(2)]
    assert [process.wait(timeout=120) for process in pair] == [0, 0]
    assert len(server.asked) == 2 and os.listdir(tmp_path) == ["words.csv"]
    assert len(read_sequences(path, [-1, 1]).X) == 2000


# ---------------------------------------------------------------- converters


def test_counts_of_matlab():
    dense = np.array([[0, 3, 0], [1, 0, 255]], dtype=np.uint8)
    got = convert_counts(mat_file(dense, np.array([[1], [2]], dtype=np.uint8)))
    assert isinstance(got.X, scipy.sparse.csr_array) and got.X.dtype == np.int32
    assert got.X.toarray().tolist() == dense.tolist()
    assert got.y.tolist() == [1, 2] and got.y.dtype == np.int64


def test_expressions_of_matlab():
    got = convert_expressions(mat_file(np.array([[0.1, -2]]), np.array([[2.0]])))
    assert got.X.tolist() == np.float32([[0.1, -2]]).tolist() and got.y.tolist() == [2]


def test_lists_of_r():
    X = np.array([[1.5, 2, 3], [4, 5, -6]])
    got = convert_r_list(r_file("trees", X, ["oak", "elm"]))
    assert got.X.tolist() == X.tolist() and got.X.dtype == np.float32
    assert got.y.tolist() == ["oak", "elm"] and got.X.flags.c_contiguous


def test_vowels_and_ozone():
    names = ",".join(["row.names", "y", *(f"x.{j}" for j in range(1, 11))])
    train = f'{names}\n"1",2,{",".join("0123456789")}\n'.encode()
    test = f"{names}\r\n1,1,{','.join(['-0.5'] * 10)}\r\n".encode()
    got = convert_vowels(train, test)
    assert got.X.tolist() == [list(range(10)), [-0.5] * 10]
    assert got.y.tolist() == [2, 1] and got.extra["is_train"].tolist() == [True, False]
    got = convert_ozone(b"ozone,vh,wind\n3,5710,4\n5,5700,3\n")
    assert got.X.tolist() == [[5710, 4], [5700, 3]] and got.y.tolist() == [3, 5]
    assert got.extra["feature_names"].tolist() == ["vh", "wind"]


def test_sequences():
    got = convert_promoters(promoter_file(["ACGT", "TTGA"], ["+", "-"]))
    assert got.X == ["ACGT", "TTGA"] and got.y.tolist() == ["+", "-"]
    got = convert_proteins(b"MNOP  -1\n\nxYZ 1")
    assert got.X == ["MNOP", "xYZ"] and got.y.tolist() == [-1, 1]


def zip_with(name):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr(name, "+,S10,\t\tacgt\n")
    return buffer.getvalue()


R_FILE = r_file("trees", np.eye(2), ["oak", "elm"])


@pytest.mark.parametrize(
    ("convert", "contents"),
    [
        (convert_counts, [b"MATLAB 5.0 MAT-file"]),
        (convert_counts, [b""]),
        (convert_expressions, [mat_file(np.eye(2), np.eye(2))[:-9]]),
        (convert_r_list, [b""]),
        (convert_r_list, [R_FILE[:-30]]),
        (convert_r_list, [b"\xfd7zXZ\x00"]),
        (convert_vowels, [b"y,x.1\n1,2\n", b"y,x.1\n1,2\n"]),
        (convert_ozone, [b"ozone,vh\n3,5710\n5"]),
        (convert_ozone, [b"ozone,vh\n3,high\n"]),
        (convert_ozone, [b"<html>"]),
        (convert_promoters, [b"PK\x03\x04"]),
        (convert_promoters, [zip_with("splice.data")]),
        (convert_proteins, [b"ACGT\n"]),
        (convert_proteins, [b"ACGT one\n"]),
    ],
)
def test_what_is_no_such_file_has_one_error(server, convert, contents):
    """Whatever the converter makes of it, the message has the address and the remedy."""
    files = []
    for number, content in enumerate(contents):
        server.files[f"/file{number}"] = content
        files.append(RemoteFile(f"{server.address}/file{number}"))
    with pytest.raises(
        ValueError, match=rf"^{server.address}/file0.*: not the file .*Nothing was kept"
    ):
        load_origin(Origin(tuple(files), convert, "", ""))


def test_a_folder_inside_the_archive():
    content = zip_with("promoter/promoters.data")
    assert convert_promoters(content).X == ["ACGT"]


def test_code_of_r_is_refused():
    """A function, where data are expected."""
    import lzma

    content = lzma.decompress(R_FILE)
    at = content.index(np.array([0x213], ">i4").tobytes())
    closure = content[:at] + np.array([3], ">i4").tobytes() + content[at + 4 :]
    with pytest.raises(ValueError, match="a thing of R of kind 3"):
        convert_r_list(lzma.compress(closure))
