import { ActionIcon, Button, Progress } from '@mantine/core';
import { IconExternalLink, IconLink, IconTrash } from '@tabler/icons-react';
import { useQuery } from '@tanstack/react-query';
import { type DragEvent, useRef, useState } from 'react';
import { api, type Schemas } from '../api/client';
import { words } from '../api/problem';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { base64, upload } from '../api/upload';
import { useConfirm } from '../parts/confirm';
import { SectionError } from '../parts/ErrorPage';
import { day, size } from '../parts/format';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { Waiting } from './Page';
import { type Framework, PORTAL, type Settings } from './queries';
import css from './trust.module.css';

type Certificate = Schemas['ComplianceResource'];

/** One PDF for each framework: dropped, replaced, opened, linked, deleted. */
export function Certificates({ settings }: { settings: Settings | undefined }) {
  const { can } = useMe();
  const organizationId = settings?.organizationId ?? '';
  const {
    data,
    error,
    refetch: again,
  } = useQuery({
    queryKey: ['certificates', `${PORTAL}/compliance-resources`],
    queryFn: async (): Promise<Certificate[]> =>
      (await api.POST('/v1/trust-portal/compliance-resources/list', { body: { organizationId } })).data ?? [],
    enabled: settings !== undefined,
  });
  if (error) return <SectionError error={error} onRetry={() => void again()} />;
  if (!settings || !data) return <Waiting />;
  return (
    <div className={css.panel}>
      <p className={css.lead}>{t.trust.certificates.lead}</p>
      <ul className={css.certificates}>
        {settings.frameworks.map((framework) => (
          <Row
            key={framework.framework}
            framework={framework}
            certificate={data.find((one) => one.framework === framework.framework)}
            organizationId={organizationId}
            mayChange={can('trust-portal:update')}
          />
        ))}
      </ul>
    </div>
  );
}

type Props = { framework: Framework; certificate: Certificate | undefined; organizationId: string; mayChange: boolean };

function Row({ framework: { framework, title, enabled }, certificate, organizationId, mayChange }: Props) {
  const [over, setOver] = useState(false);
  const [share, setShare] = useState<number>();
  const [problem, setProblem] = useState<string>();
  const chooser = useRef<HTMLInputElement>(null);
  const { ask, dialog } = useConfirm();

  async function send(file: File | undefined) {
    if (!file) return;
    setProblem(undefined);
    if (file.type !== 'application/pdf') return setProblem(t.trust.certificates.onlyPdf);
    setShare(0);
    try {
      const body = { organizationId, framework, fileName: file.name, fileType: file.type, fileData: await base64(file) };
      await upload(`${PORTAL}/compliance-resources/upload`, body, setShare);
      await refetch(PORTAL);
      toast(t.trust.certificates.uploaded(title));
    } catch (error) {
      setProblem(words(error));
    } finally {
      setShare(undefined);
    }
  }

  function drop(event: DragEvent) {
    event.preventDefault();
    setOver(false);
    void send(event.dataTransfer.files[0]);
  }

  async function link(use: (url: string) => unknown) {
    try {
      const { data } = await api.POST('/v1/trust-portal/compliance-resources/signed-url', {
        body: { organizationId, framework },
      });
      if (data) await use(data.signedUrl);
    } catch (error) {
      setProblem(words(error));
    }
  }
  const copy = async (url: string) => {
    await navigator.clipboard.writeText(url);
    toast(t.trust.certificates.linkCopied);
  };
  const remove = async () => {
    await api.DELETE('/v1/trust-portal/compliance-resources/{framework}', { params: { path: { framework } } });
    await refetch(PORTAL);
  };
  const dropping = mayChange && {
    onDragOver: (event: DragEvent) => {
      event.preventDefault();
      setOver(true);
    },
    onDragLeave: () => setOver(false),
    onDrop: drop,
  };

  return (
    <li className={css.certificate} data-over={over || undefined} {...dropping}>
      <b>{title}</b>
      <div className={css.file}>
        {certificate ? (
          <>
            {certificate.fileName}
            <small>
              {size(certificate.fileSize)} · {t.trust.certificates.added(day(certificate.updatedAt.slice(0, 10)))}
              {!enabled && ` · ${t.trust.certificates.hidden}`}
            </small>
          </>
        ) : mayChange ? (
          <span className="t3">
            {t.trust.certificates.drop(title)}{' '}
            <button type="button" className="plain link" onClick={() => chooser.current?.click()}>
              {t.trust.certificates.choose}
            </button>
          </span>
        ) : (
          <span className="t3">{t.trust.certificates.none}</span>
        )}
      </div>
      {certificate && (
        <div className={css.icons}>
          <ActionIcon aria-label={t.trust.certificates.openFile(title)} onClick={() => void link((url) => location.assign(url))}>
            <IconExternalLink size={16} stroke={1.6} />
          </ActionIcon>
          <ActionIcon aria-label={t.trust.certificates.copyLink(title)} onClick={() => void link(copy)}>
            <IconLink size={16} stroke={1.6} />
          </ActionIcon>
          {mayChange && (
            <>
              <Button
                size="xs"
                variant="default"
                aria-label={t.trust.certificates.replace(title)}
                onClick={() => chooser.current?.click()}
              >
                {t.trust.certificates.replaceShort}
              </Button>
              <ActionIcon
                aria-label={t.trust.certificates.remove(title)}
                onClick={() =>
                  ask({
                    title: t.trust.certificates.removeAsk(title),
                    text: t.trust.certificates.removeText,
                    verb: t.trust.certificates.removeVerb,
                    act: remove,
                  })
                }
              >
                <IconTrash size={16} stroke={1.6} />
              </ActionIcon>
            </>
          )}
        </div>
      )}
      <input
        ref={chooser}
        type="file"
        accept="application/pdf"
        hidden
        aria-label={t.trust.certificates.replace(title)}
        onChange={(event) => {
          void send(event.currentTarget.files?.[0]);
          event.currentTarget.value = '';
        }}
      />
      {share !== undefined && (
        <Progress className={css.bad} value={share * 100} aria-label={t.trust.certificates.uploading(title)} />
      )}
      {problem && (
        <p className={css.bad} role="alert">
          {problem}
        </p>
      )}
      {dialog}
    </li>
  );
}
