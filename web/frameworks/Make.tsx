import { Button, Modal } from '@mantine/core';
import { useState } from 'react';
import { api } from '../api/client';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { toast } from '../parts/toast';
import { t } from '../texts';
import type { Framework } from './queries';

/** A control for each requirement that has none. */
export function Make({ framework, count, onClose }: { framework: Framework; count: number; onClose: () => void }) {
  const { make } = t.frameworks;
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string>();
  async function go() {
    setBusy(true);
    setProblem(undefined);
    try {
      const { data } = await api.POST('/v1/controls/from-framework', { body: { frameworkId: framework.id } });
      await refetch('/v1/frameworks', '/v1/controls', '/v1/soa');
      toast(data?.createdCount ? make.done(data.createdCount) : make.nothing);
      onClose();
    } catch (error) {
      setProblem(words(error));
    } finally {
      setBusy(false);
    }
  }
  return (
    <Modal opened onClose={onClose} title={make.title(count)} centered closeButtonProps={{ 'aria-label': t.actions.close }}>
      <p className="t2">{make.text}</p>
      {problem && (
        <p role="alert" style={{ color: 'var(--c-bad-text)', marginTop: 12 }}>
          {problem}
        </p>
      )}
      <div style={{ display: 'flex', justifyContent: 'flex-end', gap: 8, marginTop: 20 }}>
        <Button variant="default" onClick={onClose}>
          {t.actions.cancel}
        </Button>
        <Button loading={busy} data-autofocus onClick={() => void go()}>
          {make.verb(count)}
        </Button>
      </div>
    </Modal>
  );
}
