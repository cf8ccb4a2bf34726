import { Button, FileButton, Modal, TextInput } from '@mantine/core';
import { useState } from 'react';
import { api, type Schemas } from '../api/client';
import { words } from '../api/problem';
import { moment } from '../parts/format';
import { StatusPill } from '../parts/StatusPill';
import { t } from '../texts';
import css from './soa.module.css';

type Verdict = Schemas['SoaVerification'];

/** Browsers compute it only where the page came over a safe connection. */
const canHash = () => globalThis.crypto?.subtle !== undefined;

async function sha256(file: File): Promise<string> {
  const bytes = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

/** Says whether a file is the one that was approved. The file itself goes nowhere. */
export function Verify({ documentId, onClose }: { documentId: string; onClose: () => void }) {
  const { verify } = t.soa;
  const [name, setName] = useState<string>();
  const [hash, setHash] = useState('');
  const [verdict, setVerdict] = useState<Verdict>();
  const [problem, setProblem] = useState<string>();

  async function check(sum: string) {
    setVerdict(undefined);
    setProblem(undefined);
    try {
      const { data } = await api.GET('/v1/soa/documents/{id}/verify', {
        params: { path: { id: documentId }, query: { sha256: sum } },
      });
      setVerdict(data);
    } catch (error) {
      setProblem(words(error));
    }
  }
  async function choose(file: File | null) {
    if (!file) return;
    setName(file.name);
    const sum = await sha256(file);
    setHash(sum);
    await check(sum);
  }

  return (
    <Modal opened onClose={onClose} title={verify.title} size="lg" closeButtonProps={{ 'aria-label': t.actions.close }}>
      <div style={{ display: 'grid', gap: 12 }}>
        <p className="t2">{verify.text}</p>
        {canHash() ? (
          <div>
            <FileButton onChange={(file) => void choose(file)} accept=".pdf,.xlsx,.csv">
              {(props) => (
                <Button {...props} variant="default">
                  {verify.choose}
                </Button>
              )}
            </FileButton>{' '}
            {name}
          </div>
        ) : (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              void check(hash.trim());
            }}
            style={{ display: 'grid', gap: 8 }}
          >
            <p>{verify.insecure}</p>
            <TextInput label={verify.hash} value={hash} onChange={(event) => setHash(event.currentTarget.value)} />
            <Button type="submit" variant="default">
              {verify.check}
            </Button>
          </form>
        )}
        {canHash() && hash && <p className={`mono t3 ${css.hash}`}>{hash}</p>}
        {problem && (
          <p role="alert" style={{ color: 'var(--c-bad-text)' }}>
            {problem}
          </p>
        )}
        {verdict && (
          <p role="status">
            {verdict.isApproved ? (
              <>
                <StatusPill
                  label={verify.genuine(verdict.version ?? 0, verdict.approvedAt ? moment(verdict.approvedAt) : '')}
                  tone="ok"
                  shape="check"
                />
                <br />
                <span className="t2">{verdict.isCurrent ? verify.current : verify.outdated}</span>
              </>
            ) : (
              <span style={{ color: 'var(--c-bad-text)' }}>{verify.foreign}</span>
            )}
          </p>
        )}
      </div>
    </Modal>
  );
}
