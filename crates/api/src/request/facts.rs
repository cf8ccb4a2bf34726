//! What is known of an operation before a handler sees the request.

use attestry_domain::access::Permission;

/// What the layers need to know of an operation, looked up by method and route.
#[derive(Clone, Copy, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub(crate) struct Facts {
    pub(crate) is_public: bool,
    /// None for a user's own account and for the public.
    pub(crate) permission: Option<Permission>,
    pub(crate) takes_query: bool,
    /// The response is a page of a list.
    pub(crate) is_list: bool,
    /// Whether the body may be a form.
    pub(crate) takes_form: bool,
    /// Whether the answer comes as a stream that nothing is saved by: it ends when the client leaves.
    pub(crate) is_stream: bool,
    /// The most bytes a body of its schema can have; none where only the server's own limit holds.
    pub(crate) body_limit: Option<usize>,
}
