"""Runs the checks of scim2-tester against a server, and reports those that fail.

Usage: scim.py BASE_URL TOKEN DOMAIN. The tester invents names of people; here they are addresses of the domain, because a
directory manages nobody else.
"""

import sys
import uuid

import httpx2
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_tester import Status, check_server, filling
from scim2_tester.checkers import patch_add, patch_replace

base, token, domain = sys.argv[1:]
invented = filling.generate_random_value


def ours(context, path, *args, **options):
    value = invented(context, path, *args, **options)
    binding = path.resolve()
    field = binding.target_field_name if binding else None
    model = binding.target_model.__name__.lower() if binding and binding.target_model else ""
    is_address = field == "user_name" or (field == "value" and "email" in model)
    if value is None or not is_address:
        return value
    return f"{uuid.uuid4()}@{domain}"


for module in (filling, patch_add, patch_replace):
    module.generate_random_value = ours

client = SyncSCIMClient(httpx2.Client(base_url=base, headers={"Authorization": f"Bearer {token}"}))
results = check_server(client)
failed = [result for result in results if result.status not in (Status.SUCCESS, Status.COMPLIANT, Status.ACCEPTABLE, Status.SKIPPED)]
for result in failed:
    print(f"{result.status.name} {result.title}: {result.reason}\n  {str(result.data)[:400]}")
print(f"{len(results)} checks, {len(failed)} failed")
sys.exit(1 if failed or len(results) < 70 else 0)
