"""A real SMTP server for the tests: takes mail over STARTTLS and with a password, writes it to a folder.

Usage: smtp-server.py FOLDER CERTIFICATE KEY. Prints its port. A recipient at `refused.example` is refused
for good, one at `later.example` for now.
"""
import asyncio
import logging
import pathlib
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword


class Handler:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.endswith("@refused.example"):
            return "550 no such person"
        if address.endswith("@later.example"):
            return "451 come back later"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        number = len(list(self.folder.iterdir()))
        (self.folder / f"{number}.eml").write_bytes(envelope.content)
        return "250 taken"


def check(server, session, envelope, mechanism, data):
    good = isinstance(data, LoginPassword) and data.login == b"attestry" and data.password == b"secret"
    return AuthResult(success=good)


# A handshake that the client ends is part of the test.
logging.disable(logging.CRITICAL)
folder, certificate, key = sys.argv[1:4]
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(certificate, key)


async def serve():
    def connection():
        return SMTP(
            Handler(folder), tls_context=context, require_starttls=True, authenticator=check, auth_required=True,
            # Longer than any step of a client takes on a busy machine.
            timeout=60,
        )

    # Port 0: the system chooses.
    server = await asyncio.get_running_loop().create_server(connection, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(serve())
