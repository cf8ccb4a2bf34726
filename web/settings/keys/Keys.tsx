import { Button } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { useMe } from '../../api/session';
import { useView } from '../../parts/search';
import { t } from '../../texts';
import { Fetched, Section } from '../Section';
import { BeyondPolicy } from './BeyondPolicy';
import { CreatedKey } from './CreatedKey';
import { KeyForm } from './KeyForm';
import { KeyTable } from './KeyTable';
import { isBeyond, useKeys } from './keys';

/** The API keys of people and of service accounts. */
export function Keys() {
  const { view, change } = useView();
  const { can } = useMe();
  const keys = useKeys();
  const [created, setCreated] = useState<string>();
  const texts = t.settings.keys;
  const close = () => void change({ new: undefined }, { replace: true });
  return (
    <Section
      title={t.settings.sections.keys}
      lead={texts.lead}
      actions={
        can('api-key:create') && (
          <Button leftSection={<IconPlus size={16} />} onClick={() => void change({ new: 'yes' })}>
            {texts.create}
          </Button>
        )
      }
    >
      <Fetched of={keys}>
        {({ data }) => (
          <>
            <BeyondPolicy count={data.filter(isBeyond).length} />
            {data.length === 0 ? (
              <p className="t3">{texts.none}</p>
            ) : (
              <KeyTable keys={data} caption={t.settings.sections.keys} onCreated={setCreated} />
            )}
          </>
        )}
      </Fetched>
      {view.new && can('api-key:create') && (
        <KeyForm
          onClose={close}
          onCreated={(secret) => {
            setCreated(secret);
            close();
          }}
        />
      )}
      {created && <CreatedKey secret={created} onClose={() => setCreated(undefined)} />}
    </Section>
  );
}
