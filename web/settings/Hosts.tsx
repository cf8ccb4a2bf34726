import { ActionIcon, Button, TextInput } from '@mantine/core';
import { IconTrash } from '@tabler/icons-react';
import { useState } from 'react';
import { $api, api } from '../api/client';
import { sentence, words } from '../api/problem';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { useForm } from './form';
import { Fetched, Section } from './Section';
import css from './settings.module.css';

const PATH = '/v1/organization/automation-hosts';

/** The whole list is sent at once, so it is read anew before it is changed. */
async function change(next: (hosts: string[]) => string[]) {
  const { data } = await api.GET(PATH);
  await api.PUT(PATH, { body: { hosts: next(data?.hosts ?? []) } });
  await refetch(PATH);
}

const add = (host: string) => change((hosts) => [...hosts.filter((one) => one !== host), host]);
const drop = (host: string) => change((hosts) => hosts.filter((one) => one !== host));

export function Hosts() {
  const hosts = $api.useQuery('get', PATH);
  const { can } = useMe();
  const texts = t.settings.hosts;
  const mayChange = can('organization:update');
  const tell = (problem: unknown) => toast(words(problem), { bad: true });
  const remove = (host: string) =>
    drop(host)
      .then(() => toast(texts.removed(host), { undo: () => add(host).catch(tell) }))
      .catch(tell);
  return (
    <Section title={t.settings.sections.hosts} lead={texts.lead}>
      <Fetched of={hosts}>
        {({ hosts: all }) => (
          <>
            {all.length === 0 && <p className="t3">{texts.none}</p>}
            <ul className={css.lines}>
              {all.map((host) => (
                <li key={host}>
                  <span className="mono">{host}</span>
                  {mayChange && (
                    <ActionIcon aria-label={texts.removeOf(host)} onClick={() => void remove(host)}>
                      <IconTrash size={16} stroke={1.6} />
                    </ActionIcon>
                  )}
                </li>
              ))}
            </ul>
            {mayChange && <Add all={all} />}
          </>
        )}
      </Fetched>
    </Section>
  );
}

function Add({ all }: { all: string[] }) {
  const texts = t.settings.hosts;
  const [host, setHost] = useState('');
  const form = useForm(['hosts'], async () => {
    const name = host.trim();
    if (all.includes(name)) return form.setErrors({ host: texts.already });
    await add(name);
    setHost('');
    toast(texts.added(name));
  });
  // The server names the place in the list; here there is only one field.
  const told = Object.values(form.errors)[0]?.replace(/^\[\d+\]:? */, '');
  const problem = told ? sentence(told) : form.general;
  return (
    <form onSubmit={form.submit} className={css.inline} noValidate>
      <TextInput
        label={texts.host}
        description={texts.hostHelp}
        value={host}
        error={problem}
        autoComplete="off"
        onChange={(event) => setHost(event.currentTarget.value)}
      />
      <Button type="submit" variant="default" loading={form.busy} disabled={host.trim() === ''}>
        {texts.add}
      </Button>
    </form>
  );
}
