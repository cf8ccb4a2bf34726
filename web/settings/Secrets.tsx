import { Button, Modal, PasswordInput, TextInput } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { $api, api } from '../api/client';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { useConfirm } from '../parts/confirm';
import { moment } from '../parts/format';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { FormBody, useForm } from './form';
import { Fetched, Head, Section } from './Section';
import css from './settings.module.css';

const PATH = '/v1/organization/secrets';

export function Secrets() {
  const secrets = $api.useQuery('get', PATH);
  const { can } = useMe();
  const { ask, dialog } = useConfirm();
  /** The name of the secret that is being set; empty for a new one. */
  const [setting, setSetting] = useState<string>();
  const texts = t.settings.secrets;
  const remove = (name: string) => async () => {
    await api.DELETE('/v1/organization/secrets/{name}', { params: { path: { name } } });
    await refetch(PATH);
    toast(texts.deleted(name));
  };
  return (
    <Section
      title={t.settings.sections.secrets}
      lead={texts.lead}
      actions={
        can('secret:update') && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => setSetting('')}>
            {texts.set}
          </Button>
        )
      }
    >
      <Fetched of={secrets}>
        {({ data }) =>
          data.length === 0 ? (
            <p className="t3">{texts.none}</p>
          ) : (
            <table className={css.table}>
              <caption className="hidden-visually">{t.settings.sections.secrets}</caption>
              <Head columns={[texts.columns.name, texts.columns.updated]} />
              <tbody>
                {data.map(({ name, updatedAt }) => (
                  <tr key={name}>
                    <td data-label={texts.columns.name} className="mono">
                      {name}
                    </td>
                    <td data-label={texts.columns.updated} className="t2">
                      {moment(updatedAt)}
                    </td>
                    <td data-align="right">
                      {can('secret:update') && (
                        <Button size="xs" variant="subtle" aria-label={texts.setOf(name)} onClick={() => setSetting(name)}>
                          {texts.change}
                        </Button>
                      )}
                      {can('secret:delete') && (
                        <Button
                          size="xs"
                          variant="subtle"
                          aria-label={texts.deleteOf(name)}
                          onClick={() =>
                            ask({ title: texts.deleteAsk(name), text: texts.deleteText, verb: texts.delete, act: remove(name) })
                          }
                        >
                          {texts.delete}
                        </Button>
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          )
        }
      </Fetched>
      {setting !== undefined && <Put known={setting} onClose={() => setSetting(undefined)} />}
      {dialog}
    </Section>
  );
}

function Put({ known, onClose }: { known: string; onClose: () => void }) {
  const texts = t.settings.secrets;
  const [name, setName] = useState(known);
  const [value, setValue] = useState('');
  const form = useForm(['name', 'value'], async () => {
    await api.PUT('/v1/organization/secrets/{name}', { params: { path: { name } }, body: { value } });
    await refetch(PATH);
    toast(texts.saved(name));
    onClose();
  });
  return (
    <Modal
      opened
      onClose={onClose}
      title={known ? texts.setOf(known) : texts.set}
      centered
      closeButtonProps={{ 'aria-label': t.actions.close }}
      attributes={{ header: { role: 'presentation' } }}
    >
      <FormBody
        form={form}
        verb={texts.set}
        isReady={name !== '' && value !== ''}
        cancel={{ label: t.actions.cancel, onClick: onClose }}
      >
        {!known && (
          <TextInput
            label={texts.name}
            description={texts.nameHelp}
            value={name}
            error={form.errors.name}
            autoComplete="off"
            data-autofocus
            onChange={(event) => setName(event.currentTarget.value)}
          />
        )}
        <PasswordInput
          label={texts.value}
          value={value}
          error={form.errors.value}
          autoComplete="off"
          data-autofocus={known ? true : undefined}
          onChange={(event) => setValue(event.currentTarget.value)}
        />
      </FormBody>
    </Modal>
  );
}
