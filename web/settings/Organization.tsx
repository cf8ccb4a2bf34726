import { Button, Modal, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, type Schemas } from '../api/client';
import { chooseOrganization } from '../api/organization';
import { Problem } from '../api/problem';
import { refetch } from '../api/query';
import { useMe } from '../api/session';
import { Field, type Value } from '../parts/Field';
import { day } from '../parts/format';
import { toast } from '../parts/toast';
import { t } from '../texts';
import { FormBody, useForm } from './form';
import { Fetched, Section } from './Section';
import css from './settings.module.css';

type Organization_ = Schemas['Organization'];
const KEY = ['organization', '/v1/organization'];

export function Organization() {
  const client = useQueryClient();
  const { can } = useMe();
  const texts = t.settings.organization;
  const organization = useQuery({
    queryKey: KEY,
    queryFn: async () => {
      const { data, response } = await api.GET('/v1/organization');
      return data && { data, version: response.headers.get('ETag') };
    },
  });
  const zones = Intl.supportedValuesOf('timeZone');

  async function save(patch: Schemas['UpdateOrganization']) {
    const version = organization.data?.version;
    try {
      const { data, response } = await api.PATCH('/v1/organization', {
        body: patch,
        params: { header: version ? { 'If-Match': version } : {} },
      });
      client.setQueryData(KEY, { data, version: response.headers.get('ETag') });
    } catch (error) {
      // What somebody else saved meanwhile is shown; what was typed stays in the field.
      if (error instanceof Problem && error.isConflict) void organization.refetch();
      throw error;
    }
    await refetch('session');
    toast(texts.saved);
  }
  const set = can('organization:update') ? (field: string) => (value: Value) => save({ [field]: value }) : undefined;

  return (
    <>
      <Section title={t.settings.sections.organization}>
        <Fetched of={organization}>
          {({ data }) => (
            <dl>
              <Field name="name" label={texts.name} kind="text" value={data.name} onSave={set?.('name')}>
                {data.name}
              </Field>
              <Field name="website" label={texts.website} kind="text" value={data.website} optional onSave={set?.('website')}>
                {data.website}
              </Field>
              <Field
                name="timeZone"
                label={texts.timeZone}
                kind="choice"
                value={data.timeZone}
                choices={[...new Set(['UTC', data.timeZone, ...zones])].map((zone) => ({ value: zone, label: zone }))}
                onSave={set?.('timeZone')}
              >
                {data.timeZone}
              </Field>
              <Field
                name="isSelfApprovalAllowed"
                label={texts.selfApproval}
                kind="choice"
                value={String(data.isSelfApprovalAllowed)}
                choices={Object.entries(texts.selfApprovals).map(([value, label]) => ({ value, label }))}
                onSave={set && ((value) => save({ isSelfApprovalAllowed: value === 'true' }))}
              >
                {texts.selfApprovals[data.isSelfApprovalAllowed ? 'true' : 'false']}
              </Field>
              <Field name="createdAt" label={texts.createdAt} kind="text" value={null}>
                {day(new Date(data.createdAt))}
              </Field>
              <Field name="id" label={texts.id} kind="text" value={null}>
                <span className="mono">{data.id}</span>
              </Field>
            </dl>
          )}
        </Fetched>
        <p className="t3">{texts.timeZoneHelp}</p>
      </Section>
      {can('organization:delete') && organization.data && <Deletion organization={organization.data.data} />}
    </>
  );
}

/** The one act that everybody feels: it is written out before it can be done. */
function Deletion({ organization }: { organization: Organization_ }) {
  const texts = t.settings.organization;
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState('');
  const form = useForm(['name'], async () => {
    await api.DELETE('/v1/organization', { body: { name: typed } });
    chooseOrganization(null);
    location.assign('/');
  });
  return (
    <Section title={texts.deleteTitle} lead={texts.deleteText}>
      <Button variant="default" className={css.danger} onClick={() => setOpen(true)}>
        {texts.delete}
      </Button>
      <Modal
        opened={isOpen}
        onClose={() => setOpen(false)}
        title={texts.deleteAsk(organization.name)}
        centered
        closeButtonProps={{ 'aria-label': t.actions.close }}
        attributes={{ header: { role: 'presentation' } }}
      >
        <FormBody
          form={form}
          verb={texts.delete}
          isDanger
          isReady={typed === organization.name}
          cancel={{ label: t.actions.cancel, onClick: () => setOpen(false) }}
        >
          <p className="t2">{texts.deleteText}</p>
          <TextInput
            label={texts.deleteConfirm(organization.name)}
            value={typed}
            error={form.errors.name}
            autoComplete="off"
            data-autofocus
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        </FormBody>
      </Modal>
    </Section>
  );
}
