import { ActionIcon, Button, Menu } from '@mantine/core';
import {
  IconArchive,
  IconArchiveOff,
  IconDots,
  IconFileTypePdf,
  IconFileUpload,
  IconGitCompare,
  IconSparkles,
  IconTrash,
  IconUserCheck,
} from '@tabler/icons-react';
import { useNavigate } from '@tanstack/react-router';
import { type ReactNode, useRef, useState } from 'react';
import { api } from '../api/client';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import type { Versioned } from '../api/records';
import { useMe } from '../api/session';
import { useConfirm } from '../parts/confirm';
import { useView } from '../parts/search';
import { useShortcuts } from '../parts/shortcuts';
import { toast } from '../parts/toast';
import { t } from '../texts';
import css from './Detail.module.css';
import { Approve, Deny, Sign, Submit } from './dialogs';
import type { PolicyView } from './fields';
import { attachText } from './file';
import { downloadPolicy, printPolicy } from './print';
import type { Proposed } from './proposal';
import { patch } from './queries';

type Props = { record: Versioned<PolicyView>; mustSign: boolean; proposal: Proposed; isEditing: boolean };
type Dialog = 'submit' | 'approve' | 'deny' | 'sign';

/** What the reader may do with the policy as it is. At most one of it is the main thing. */
export function Actions({ record, mustSign, proposal, isEditing }: Props) {
  const { data: policy } = record;
  const { view, change: go } = useView();
  const { can, memberId } = useMe();
  const [dialog, setDialog] = useState<Dialog>();
  const mayUpdate = can('policy:update') && !policy.isArchived;
  const isApprover = can('policy:approve') && policy.status === 'needs_review' && policy.approverId === memberId;
  const hasText = policy.fileId !== null || (policy.content ?? []).length > 0;
  const showsPublished = policy.status === 'published' || view.version === String(policy.currentVersion);
  const isReading = !isEditing && !proposal.isOpen && !view.compare;
  const v = t.policies.v(policy.currentVersion ?? 1);

  // On paper a text is its PDF; the other tabs print as they are.
  const isText = isReading && (view.tab ?? 'text') === 'text' && hasText && !policy.fileId;
  const shown = view.version ? Number(view.version) : undefined;
  useShortcuts({ 'Mod+p': isText ? () => void printPolicy(policy.id, shown) : undefined });

  const mains: [boolean, string, () => void][] = [
    [isApprover && !policy.isArchived, t.policies.approve, () => setDialog('approve')],
    [
      mustSign,
      showsPublished ? t.policies.sign(v) : t.policies.readAndSign(v),
      () => (showsPublished ? setDialog('sign') : void go({ version: String(policy.currentVersion), tab: undefined })),
    ],
    [mayUpdate && policy.status === 'draft' && hasText, t.policies.submit, () => setDialog('submit')],
  ];
  const main = isReading ? mains.find(([isOffered]) => isOffered) : undefined;
  const hasMenu = hasText || mayUpdate || can('policy:delete');

  return (
    <div className={css.actions}>
      {hasMenu && <More record={record} hasText={hasText} mayUpdate={mayUpdate} onSubmit={() => setDialog('submit')} />}
      {mayUpdate && !policy.fileId && (
        <Button
          variant="default"
          leftSection={<IconSparkles size={16} stroke={1.6} />}
          aria-pressed={view.assistant !== undefined}
          onClick={() => void go({ assistant: view.assistant ? undefined : 'yes' })}
        >
          {t.policies.assistant.title}
        </Button>
      )}
      {mayUpdate && isReading && !policy.fileId && !view.version && (
        <Button variant="default" onClick={() => void go({ edit: 'yes', tab: undefined })}>
          {t.actions.edit}
        </Button>
      )}
      {isApprover && isReading && (
        <Button variant="default" onClick={() => setDialog('deny')}>
          {t.policies.deny}
        </Button>
      )}
      {main && (
        <Button data-primary onClick={main[2]}>
          {main[1]}
        </Button>
      )}
      <Dialogs which={dialog} record={record} undecided={proposal.open.length} onClose={() => setDialog(undefined)} />
    </div>
  );
}

type DialogProps = { which: Dialog | undefined; record: Versioned<PolicyView>; undecided: number; onClose: () => void };

function Dialogs({ which, record, undecided, onClose }: DialogProps) {
  const all: Record<Dialog, () => ReactNode> = {
    submit: () => <Submit record={record} undecided={undecided} onClose={onClose} />,
    approve: () => <Approve record={record} undecided={undecided} onClose={onClose} />,
    deny: () => <Deny record={record} onClose={onClose} />,
    sign: () => <Sign record={record} onClose={onClose} />,
  };
  return which ? all[which]() : null;
}

type MoreProps = { record: Versioned<PolicyView>; hasText: boolean; mayUpdate: boolean; onSubmit: () => void };

function More({ record, hasText, mayUpdate, onSubmit }: MoreProps) {
  const { data: policy, version } = record;
  const { id } = policy;
  const { change: go } = useView();
  const { can } = useMe();
  const navigate = useNavigate();
  const { ask, dialog } = useConfirm();
  const chooser = useRef<HTMLInputElement>(null);
  const tell = (problem: unknown) => toast(words(problem), { bad: true });

  async function archive(isArchived: boolean) {
    await patch(id, { isArchived }, version);
    await refetch('/v1/policies');
    toast(isArchived ? t.policies.archivedNow : t.policies.unarchivedNow, {
      undo: () =>
        patch(id, { isArchived: !isArchived })
          .then(() => refetch('/v1/policies'))
          .catch(tell),
    });
  }

  async function remove() {
    await api.DELETE('/v1/policies/{id}', { params: { path: { id } } });
    await navigate({ to: '/policies' as string });
    await refetch('/v1/policies');
  }

  async function takeFile(file: File | undefined) {
    if (!file) return;
    try {
      await attachText(id, file, () => {});
      toast(t.policies.fileIsText(file.name));
    } catch (problem) {
      tell(problem);
    } finally {
      await refetch('/v1/policies');
    }
  }

  const items: [boolean, typeof IconDots, string, () => void][] = [
    [hasText && !policy.fileId, IconFileTypePdf, t.policies.pdf, () => downloadPolicy(id)],
    [
      can('policy:read') && policy.currentVersion !== null && !policy.fileId,
      IconGitCompare,
      t.policies.compareWith(t.policies.v(policy.currentVersion ?? 1)),
      () => void go({ compare: `${policy.currentVersion}..draft`, tab: undefined, version: undefined, edit: undefined }),
    ],
    [mayUpdate && policy.status === 'needs_review', IconUserCheck, t.policies.askAnother, onSubmit],
    [mayUpdate && !policy.fileId, IconFileUpload, t.policies.fileInstead, () => chooser.current?.click()],
    [mayUpdate, IconArchive, t.policies.archive, () => void archive(true).catch(tell)],
    [
      can('policy:update') && policy.isArchived === true,
      IconArchiveOff,
      t.policies.unarchive,
      () => void archive(false).catch(tell),
    ],
    [
      can('policy:delete'),
      IconTrash,
      t.actions.delete,
      () =>
        ask({ title: t.record.deleteAsk(policy.name), text: t.record.deleteText, verb: t.policies.deletePolicy, act: remove }),
    ],
  ];
  const offered = items.filter(([isOffered]) => isOffered);
  if (offered.length === 0) return null;
  return (
    <>
      <Menu position="bottom-end" width={250}>
        <Menu.Target>
          <ActionIcon variant="default" size={32} aria-label={t.record.more}>
            <IconDots size={17} stroke={1.6} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {offered.map(([, Icon, label, act]) => (
            <Menu.Item key={label} leftSection={<Icon size={15} stroke={1.6} />} onClick={act}>
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
      <input
        ref={chooser}
        type="file"
        hidden
        accept=".pdf,.doc,.docx"
        aria-label={t.policies.fileInstead}
        onChange={(event) => void takeFile(event.currentTarget.files?.[0])}
      />
      {dialog}
    </>
  );
}
