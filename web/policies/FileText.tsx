import { Button, Progress } from '@mantine/core';
import { IconDownload, IconFileText } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { useFiles } from '../parts/Files';
import { moment, size } from '../parts/format';
import { toast } from '../parts/toast';
import { t } from '../texts';
import css from './Detail.module.css';
import type { PolicyView } from './fields';
import { attachText, openText } from './file';
import { patch } from './queries';

/** A policy whose text is an uploaded file. */
export function FileText({ policy, mayUpdate }: { policy: PolicyView; mayUpdate: boolean }) {
  const { can } = useMe();
  return (
    <div className={css.sheet}>
      <div className={css.doc}>
        <div className={css.file}>
          <IconFileText size={28} stroke={1.3} aria-hidden="true" />
          {can('policy:read') ? <FileFacts policy={policy} /> : <b>{t.policies.isFile}</b>}
          <Button
            variant="default"
            leftSection={<IconDownload size={16} stroke={1.6} />}
            onClick={() => void openText(policy.id)}
          >
            {t.policies.openFile}
          </Button>
        </div>
        {mayUpdate && <Replace id={policy.id} hasText={(policy.content ?? []).length > 0} />}
      </div>
    </div>
  );
}

function FileFacts({ policy }: { policy: PolicyView }) {
  const files = useFiles('/v1/policies', policy.id);
  const file = files.data?.find(({ id }) => id === policy.fileId);
  return (
    <span>
      <b>{file?.name ?? t.policies.isFile}</b>
      {file && (
        <small className="t3" style={{ display: 'block' }}>
          {size(file.size)} · {moment(file.createdAt)}
        </small>
      )}
    </span>
  );
}

function Replace({ id, hasText }: { id: string; hasText: boolean }) {
  const chooser = useRef<HTMLInputElement>(null);
  const [share, setShare] = useState<number>();
  async function run(act: () => Promise<unknown>) {
    try {
      await act();
    } catch (problem) {
      toast(words(problem), { bad: true });
    } finally {
      setShare(undefined);
      await refetch('/v1/policies');
    }
  }
  return (
    <>
      <p className="t3" style={{ marginTop: 12 }}>
        {t.policies.fileNote}
      </p>
      {share !== undefined && <Progress value={share * 100} mt={12} aria-label={t.policies.uploading} />}
      <div className={css.fileActions}>
        <Button variant="default" onClick={() => chooser.current?.click()}>
          {t.policies.replaceFile}
        </Button>
        <Button variant="subtle" onClick={() => void run(() => patch(id, { fileId: null }))}>
          {hasText ? t.policies.useText : t.policies.writeInstead}
        </Button>
      </div>
      <input
        ref={chooser}
        type="file"
        hidden
        accept=".pdf,.doc,.docx"
        aria-label={t.policies.replaceFile}
        onChange={(event) => {
          const file = event.currentTarget.files?.[0];
          if (file) void run(() => attachText(id, file, setShare));
        }}
      />
    </>
  );
}
