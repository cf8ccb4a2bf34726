import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { api } from '../../api/client';
import { words } from '../../api/problem';
import { refetch } from '../../api/query';
import { useMe } from '../../api/session';
import { useConfirmed } from '../../parts/confirmed';
import { StatusPill } from '../../parts/StatusPill';
import { useView } from '../../parts/search';
import { toast } from '../../parts/toast';
import { t } from '../../texts';
import { Head, Section } from '../Section';
import css from '../settings.module.css';
import { ConnectionPanel } from './ConnectionPanel';
import { CONNECTIONS } from './queries';
import { type Connection, connectionStates } from './sso';
import { TestResult } from './TestResult';

/** Opens a test of a connection in a window of its own, which ends with its result. */
async function test({ id }: Connection) {
  // Browsers allow a window only in response to a click, before anything is awaited.
  const opened = window.open('', '_blank');
  // The provider's page has nothing to do with this one.
  if (opened) opened.opener = null;
  try {
    const { data } = await api.POST('/v1/organization/sso-connections/{connectionId}/test', {
      params: { path: { connectionId: id } },
    });
    const address = data?.startUrl ?? '';
    if (opened) opened.location.replace(address);
    else location.assign(address);
  } catch (problem) {
    opened?.close();
    toast(words(problem), { bad: true });
  }
}

/** Lets people sign in with a connection, once it was tested. */
function useEnabling() {
  const { run, dialog } = useConfirmed();
  const enable = ({ id, name }: Connection) =>
    run(async () => {
      await api.PATCH('/v1/organization/sso-connections/{connectionId}', {
        params: { path: { connectionId: id } },
        body: { isEnabled: true },
      });
      await refetch(CONNECTIONS);
      toast(t.signIn.sso.enabled(name));
    }).catch((problem) => toast(words(problem), { bad: true }));
  return { enable, dialog };
}

/** The connections of the organization to identity providers. */
export function Connections({ connections }: { connections: Connection[] }) {
  const { view, change } = useView();
  const { can } = useMe();
  const { enable, dialog } = useEnabling();
  const texts = t.signIn.sso;
  const mayChange = can('identity:update');
  const close = () => void change({ new: undefined, connection: undefined, tested: undefined }, { replace: true });
  const open = connections.find(({ id }) => id === view.connection);
  return (
    <Section
      title={texts.title}
      lead={texts.lead}
      actions={
        mayChange && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => void change({ new: 'yes' })}>
            {texts.add}
          </Button>
        )
      }
    >
      {connections.length === 0 ? (
        <p className="t3">{texts.none}</p>
      ) : (
        <table className={css.table}>
          <caption className="hidden-visually">{texts.title}</caption>
          <Head columns={[texts.columns.name, texts.columns.state]} />
          <tbody>
            {connections.map((connection) => (
              <Line
                key={connection.id}
                connection={connection}
                onOpen={() => void change({ connection: connection.id })}
                onEnable={() => void enable(connection)}
              />
            ))}
          </tbody>
        </table>
      )}
      {mayChange && view.new && (
        <ConnectionPanel
          onClose={close}
          onCreated={({ id }) => void change({ new: undefined, connection: id }, { replace: true })}
        />
      )}
      {open && view.tested && (
        <TestResult connection={open} signIn={view.tested} onEnable={() => void enable(open)} onClose={close} />
      )}
      {open && !view.tested && <ConnectionPanel key={open.id} known={open} onClose={close} />}
      {dialog}
    </Section>
  );
}

type LineProps = { connection: Connection; onOpen: () => void; onEnable: () => void };

function Line({ connection, onOpen, onEnable }: LineProps) {
  const { can } = useMe();
  const texts = t.signIn.sso;
  const { name, issuer, isEnabled, testedAt } = connection;
  const mayChange = can('identity:update');
  return (
    <tr>
      <td data-label={texts.columns.name}>
        <b>{name}</b>
        <span className={css.answer}>{issuer}</span>
      </td>
      <td data-label={texts.columns.state}>
        <span className={css.pills}>
          {connectionStates(connection).map((state) => (
            <StatusPill key={state.label} {...state} />
          ))}
        </span>
      </td>
      <td data-align="right">
        {mayChange && testedAt && !isEnabled && (
          <Button size="xs" variant="default" aria-label={texts.enableOf(name)} onClick={onEnable}>
            {texts.enable}
          </Button>
        )}
        {mayChange && (
          <Button size="xs" variant="subtle" aria-label={texts.testOf(name)} onClick={() => void test(connection)}>
            {texts.test}
          </Button>
        )}
        <Button size="xs" variant="subtle" aria-label={mayChange ? texts.editOf(name) : texts.openOf(name)} onClick={onOpen}>
          {mayChange ? t.actions.edit : t.actions.open}
        </Button>
      </td>
    </tr>
  );
}
