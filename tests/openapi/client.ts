// What programs do first, with a client that was generated from the document. It has to compile; it is not run.
import {
  createRisk,
  createTask,
  createVendor,
  deleteComment,
  deleteRiskAttachment,
  deleteMember,
  listContext,
  listMembers,
  listRisks,
  listTasks,
  uploadCertificate,
} from './client';

export async function first(id: string): Promise<number> {
  const risk = await createRisk({ body: { title: 'Laptops are lost', description: 'On the train.', category: 'people' } });
  await createVendor({ body: { name: 'Cloudy', description: 'Hosts our servers.' } });
  await createTask({ body: { title: 'Review access' } });
  // Bodies that can be left out are.
  await deleteComment({ path: { commentId: id } });
  await deleteRiskAttachment({ path: { id: risk.data?.id ?? id, attachmentId: id } });
  await deleteMember({ path: { id }, query: { skipOffboarding: true } });
  const { data: tasks } = await listTasks();
  const { data: people } = await listMembers({ query: { includeDeactivated: true } });
  const { data: page } = await listRisks({ query: { page: 1, perPage: 50, sort: 'createdAt', sortDirection: 'desc' } });
  await listContext({ query: { search: 'bakery' } });
  const file = { fileName: 'a.pdf', fileType: 'application/pdf', fileData: 'JVBERi0=' } as const;
  await uploadCertificate({ body: { organizationId: id, framework: 'iso_27001', ...file } });
  return (tasks?.length ?? 0) + (people?.count ?? 0) + (page?.pageCount ?? 0);
}
