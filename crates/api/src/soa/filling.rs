//! `/v1/soa/auto-fill`: automatic answers to a statement, as a stream.

use std::convert::Infallible;
use std::sync::Arc;

use attestry_app::soa::filling::{self, FillEvent, Filling};
use attestry_domain::access::grant;
use attestry_domain::id::{OrganizationId, SoaDocumentId};
use attestry_http::answer::problem::Problem;
use attestry_http::answer::streams::{done, stream};
use attestry_http::request::caller::{GrantedForLong, must_be_same_organization};
use attestry_http::request::wire::Valid;
use attestry_http::state::Api;
use axum::extract::State;
use axum::response::Response;
use axum::response::sse::Event;
use futures_util::stream::{iter, unfold};
use futures_util::{Stream, StreamExt};
use serde_json::{Value, json};

use super::views::{AnswerView, DOCUMENT, ORGANIZATION};

body! {
    /// The statement to fill in.
    FillSoa {
        organization_id "organizationId": required OrganizationId = "Your organization.",
        document_id "documentId": required SoaDocumentId = "The statement.",
    }
    example json!({"organizationId": ORGANIZATION, "documentId": DOCUMENT})
}

fn event(piece: &Value) -> Event {
    Event::default().data(piece.to_string())
}

fn shown(filled: FillEvent) -> Event {
    event(&match filled {
        FillEvent::Progress { done, total } => json!({"type": "progress", "done": done, "total": total}),
        FillEvent::Answer(answer) => json!({"type": "answer", "answer": AnswerView::from(*answer)}),
        FillEvent::Finished { proposed, unanswered } => {
            json!({"type": "finish", "proposed": proposed, "unanswered": unanswered})
        }
    })
}

fn events(filling: Filling, request_id: Arc<str>) -> impl Stream<Item = Result<Event, Infallible>> {
    let rest = unfold(Some((filling, request_id)), |state| async move {
        let (mut filling, request_id) = state?;
        Some(match filling.next().await {
            Some(Ok(filled)) => (iter(vec![shown(filled)]), Some((filling, request_id))),
            Some(Err(error)) => {
                let problem = Problem::from(error);
                let (code, cause) = (problem.code, problem.cause.as_deref());
                tracing::warn!(%request_id, code, cause, "filling a statement in broke off");
                let piece = json!({"type": "error", "code": problem.code, "errorText": problem.detail});
                (iter(vec![event(&piece), done()]), None)
            }
            None => (iter(vec![done()]), None),
        })
    });
    rest.flatten().fuse().map(Ok)
}

/// Fills in a statement of applicability, and streams the proposals
///
/// A stream of server-sent events: `progress` with `done` and `total`, `answer` for each proposed answer, `finish`,
/// and `[DONE]`. Rules come first, based on facts about the organization (`/v1/context`) and its controls. If an AI
/// provider is configured, it is asked about the rest. Answers of a person are not changed, and every proposal stays
/// `proposed` until a person confirms it. A failure in the middle is an `error` event; the proposals made before it
/// stay.
#[utoipa::path(
    post, path = "/v1/soa/auto-fill", tag = "Statement of applicability", request_body = FillSoa,
    responses(
        (status = 200, content_type = "text/event-stream", body = String, description = "The proposals as they arrive.",
         example = json!("data: {\"done\":0,\"total\":93,\"type\":\"progress\"}\n\ndata: {\"proposed\":0,\"type\":\"finish\",\"unanswered\":93}\n\ndata: [DONE]\n\n")),
        (status = 404, description = "There is no such statement."),
        (status = 409, description = "There is a later version."),
    )
)]
pub(crate) async fn fill_soa(
    api: State<Api>,
    caller: GrantedForLong<grant::SoaUpdate>,
    body: Valid<FillSoa>,
) -> Result<Response, Problem> {
    let FillSoa { organization_id, document_id } = body.0;
    let caller = caller.lasting();
    must_be_same_organization(&caller.scope, organization_id)?;
    let request_id = Arc::clone(&caller.scope.origin().request_id);
    let filling = filling::begin(&api.ctx, caller, document_id).await?;
    Ok(stream(&api, events(filling, request_id)))
}
