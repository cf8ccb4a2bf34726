/** The page of a record, by the name that the journal has for its kind. */
export function pageOf(entityType: string, id: string): string | undefined {
  const pages: Record<string, string> = {
    risk: `/risks?open=${id}`,
    vendor: `/vendors?open=${id}`,
    control: `/controls?open=${id}`,
    member: `/people?open=${id}`,
    task: `/tasks/${id}`,
    policy: `/policies/${id}`,
    framework: `/frameworks/${id}`,
    context_entry: `/settings/context?open=${id}`,
    soa_document: '/applicability',
    soa_answer: '/applicability',
    api_key: '/settings/keys',
    service_account: `/settings/service-accounts?open=${id}`,
    secret: '/settings/secrets',
    chat_channel: '/settings/chat',
    risk_criteria: '/settings/criteria',
    sign_in_policy: '/settings/security',
    mail_domain: '/settings/security',
    sso_connection: `/settings/security?connection=${id}`,
    directory: '/settings/security',
    directory_token: '/settings/security',
    directory_group: '/settings/security',
    // It has the id of the member.
    directory_user: `/people?open=${id}`,
    'automation-hosts': '/settings/hosts',
    organization: '/settings/organization',
    portal: '/trust-portal',
    portal_post: '/trust-portal',
    certificate: '/trust-portal',
    access_request: `/trust-portal?tab=requests&open=${id}`,
    access_grant: '/trust-portal?tab=grants',
  };
  return pages[entityType];
}
