"""What the tests of downloads use: a web server on this computer, and small files in the
forms in which others publish their data.
"""

import contextlib
import http.server
import io
import lzma
import threading
import zipfile

import numpy as np
import scipy.io


class SmallServer(http.server.ThreadingHTTPServer):
    """A web server on this computer for files in a dictionary.

    A value of `files` is the content of a path, or a function of the handler that
    answers. `asked` lists the paths of the requests.
    """

    daemon_threads = True

    def __init__(self):
        self.files = {}
        self.asked = []
        super().__init__(("127.0.0.1", 0), SmallHandler)
        # a caller that has gone before it is let in must not hold up the end
        self.socket.settimeout(1)
        self.address = f"http://127.0.0.1:{self.server_port}"

    def handle_error(self, request, client_address):
        """A client that goes away early is what some tests are about."""


class SmallHandler(http.server.BaseHTTPRequestHandler):
    """Answers with what the server has under the path."""

    def do_GET(self):
        self.server.asked.append(self.path)
        content = self.server.files.get(self.path)
        if content is None:
            self.send_error(404)
        elif callable(content):
            content(self)
        else:
            self.send_response(200)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

    def log_message(self, *args):
        """Say nothing."""


@contextlib.contextmanager
def small_server():
    """A `SmallServer` that serves."""
    with SmallServer() as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield server
        server.shutdown()


def mat_file(X, Y):
    """A file of MATLAB with two matrices."""
    buffer = io.BytesIO()
    scipy.io.savemat(buffer, {"X": X, "Y": Y}, do_compression=True)
    return buffer.getvalue()


def r_file(name, X, labels):
    """A file of R, packed by xz: a list with the matrix x, which has names, and the
    factor y; and a second one, for which R refers to names of the first.
    """
    symbols = []

    def number(*values):
        return np.array(values, ">i4").tobytes()

    def text(value):
        return number(0x40009, len(value)) + value.encode()

    def symbol(value):
        if value in symbols:
            return number((symbols.index(value) + 1) << 8 | 255)
        symbols.append(value)
        return number(1) + text(value)

    def texts(values):
        return number(16, len(values)) + b"".join(map(text, values))

    def pairs(**items):
        content = b"".join(
            number(0x402) + symbol(key) + make() for key, make in items.items()
        )
        return content + number(254)

    def matrix():
        rows = [str(i) for i in range(len(X))]

        def names():
            return number(19, 2) + texts(rows) + number(254)

        head = number(0x20E, X.size) + np.asarray(X.T, ">f8").tobytes()
        return head + pairs(dim=lambda: number(13, 2, *X.shape), dimnames=names)

    def factor():
        levels, codes = np.unique(labels, return_inverse=True)
        head = number(0x30D, len(codes), *(codes + 1))
        return head + pairs(
            levels=lambda: texts(levels.tolist()),
            **{"class": lambda: texts(["factor"])},
        )

    def whole():
        content = number(0x213, 2) + matrix() + factor()
        return content + pairs(names=lambda: texts(["x", "y"]))

    saved = pairs(**{name: whole, f"{name}_again": whole})
    return lzma.compress(b"RDX2\nX\n" + number(2, 0x20E01, 0x20300) + saved, preset=0)


def promoter_file(sequences, labels):
    """A zip archive of UCI with sequences in one of its files."""
    lines = [
        f"{label},S{i},\t\t{sequence.lower()}\n"
        for i, (sequence, label) in enumerate(zip(sequences, labels, strict=True))
    ]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("Index", "promoters.data\n")
        archive.writestr("promoters.data", "".join(lines))
    return buffer.getvalue()
