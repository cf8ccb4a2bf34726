"""What programs do first, with a client that was generated from the document. It has to type-check; it is not run."""

from attestry_client import AuthenticatedClient
from attestry_client.api.comments import delete_comment
from attestry_client.api.people import delete_member, list_members
from attestry_client.api.risks import create_risk, list_risks
from attestry_client.api.tasks import list_tasks
from attestry_client.models import CreateRisk, CreateRiskCategory, Risk, RiskList, Task


def first(client: AuthenticatedClient, id: str) -> int:
    body = CreateRisk(title="Laptops are lost", description="On the train.", category=CreateRiskCategory.PEOPLE)
    risk = create_risk.sync(client=client, body=body)
    # A body that can be left out is.
    delete_comment.sync(comment_id=id, client=client)
    delete_member.sync(id=id, client=client, skip_offboarding=True)
    tasks = list_tasks.sync(client=client)
    page = list_risks.sync(client=client, page=1, per_page=50)
    people = list_members.sync(client=client, include_deactivated=True)
    count = len(tasks) if isinstance(tasks, list) and all(isinstance(task, Task) for task in tasks) else 0
    if isinstance(risk, Risk) and isinstance(page, RiskList) and page.count:
        count += page.count
    return count + (1 if people else 0)
