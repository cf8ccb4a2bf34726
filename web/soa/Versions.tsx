import { Button, Modal, Table } from '@mantine/core';
import { usePeople } from '../api/people';
import { moment } from '../parts/format';
import { t } from '../texts';
import { DocumentPill } from './cells';
import type { Document } from './queries';
import css from './soa.module.css';

type Props = {
  documents: Document[];
  shown: Document;
  onShow: (id: string) => void;
  onCompare: (id: string) => void;
  onClose: () => void;
};

/** The versions of one framework's statement: each can be shown, or held against the one that is shown. */
export function Versions({ documents, shown, onShow, onCompare, onClose }: Props) {
  const people = usePeople();
  const { versions } = t.soa;
  return (
    <Modal opened onClose={onClose} title={versions.title} size="xl" closeButtonProps={{ 'aria-label': t.actions.close }}>
      <Table.ScrollContainer minWidth={480} scrollAreaProps={{ viewportProps: { tabIndex: 0 } }}>
        <Table aria-label={versions.title}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{versions.version}</Table.Th>
              <Table.Th>{versions.status}</Table.Th>
              <Table.Th>{versions.answered}</Table.Th>
              <Table.Th>{versions.date}</Table.Th>
              <Table.Th>
                <span className="hidden-visually">{t.actions.more}</span>
              </Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {documents.map((document) => (
              <Table.Tr key={document.id}>
                <Table.Td className="num">{document.version}</Table.Td>
                <Table.Td>
                  <DocumentPill document={document} />
                  {document.status === 'approved' && (
                    <div className="t3">
                      {people.name(document.approverId)}
                      {document.approverId === document.submittedBy && ` · ${t.policies.selfApproved}`}
                      {document.contentHash && (
                        <div className={`mono ${css.hash}`} title={versions.hash}>
                          {document.contentHash.slice(0, 16)}…
                        </div>
                      )}
                    </div>
                  )}
                </Table.Td>
                <Table.Td className="num">{t.soa.of(document.answeredQuestions, document.totalQuestions)}</Table.Td>
                <Table.Td>{moment(document.updatedAt)}</Table.Td>
                <Table.Td style={{ textAlign: 'right', whiteSpace: 'nowrap' }}>
                  {document.id === shown.id ? (
                    <span className="t3">{versions.shown}</span>
                  ) : (
                    <>
                      <Button
                        size="xs"
                        variant="subtle"
                        aria-label={versions.compare(document.version)}
                        onClick={() => onCompare(document.id)}
                      >
                        {versions.compareShort}
                      </Button>
                      <Button
                        size="xs"
                        variant="default"
                        aria-label={versions.open(document.version)}
                        onClick={() => onShow(document.id)}
                      >
                        {t.actions.open}
                      </Button>
                    </>
                  )}
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Modal>
  );
}
