import { Button, Checkbox, Menu, Modal, TextInput } from '@mantine/core';
import { IconBookmark, IconCheck, IconDeviceFloppy, IconPencil, IconTrash, IconUsers } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { $api, api, type Schemas } from '../../api/client';
import { words } from '../../api/problem';
import { refetch } from '../../api/query';
import { useMe } from '../../api/session';
import { t } from '../../texts';
import { useConfirm } from '../confirm';
import { arranged, useView } from '../search';
import { toast } from '../toast';
import css from './Views.module.css';

type View = Schemas['View'];
export type ViewList = View['list'];

const same = (one: Record<string, string>, other: Record<string, string>) =>
  JSON.stringify(Object.entries(one).sort()) === JSON.stringify(Object.entries(other).sort());

/** The saved views of a list: one's own and those that are shared. The one that is shown is ticked. */
export function Views({ list }: { list: ViewList }) {
  const { view, change } = useView();
  const { can } = useMe();
  const { data } = $api.useQuery('get', '/v1/views', { params: { query: { list } } });
  const [edited, setEdited] = useState<View | 'new'>();
  const button = useRef<HTMLButtonElement>(null);
  const { ask, dialog } = useConfirm();
  // The log is filtered by days; elsewhere `to` is a place in the open record.
  const now = arranged(view, list === 'audit-log' ? ['to'] : []);
  const views = data?.data ?? [];
  const current = views.find(({ parameters }) => same(parameters, now));
  // The address has all there is to a view: what the one before had set goes.
  const show = (parameters: Record<string, string>) =>
    void change({ ...Object.fromEntries(Object.keys(now).map((key) => [key, undefined])), ...parameters, open: undefined });
  const fail = (problem: unknown) => toast(words(problem), { bad: true });
  async function save(name: string, isShared: boolean) {
    if (edited === 'new') await api.POST('/v1/views', { body: { list, name, isShared, parameters: now } });
    else if (edited)
      await api.PATCH('/v1/views/{viewId}', {
        params: { path: { viewId: edited.id } },
        body: { name, ...(can('organization:update') && { isShared }) },
      });
    await refetch('/v1/views');
    toast(t.views.saved(name));
  }
  const update = (one: View) =>
    api
      .PATCH('/v1/views/{viewId}', { params: { path: { viewId: one.id } }, body: { parameters: now } })
      .then(() => refetch('/v1/views'))
      .then(() => toast(t.views.saved(one.name)))
      .catch(fail);
  const remove = (one: View) =>
    ask({
      title: t.views.deleteAsk(one.name),
      text: one.isShared ? t.views.deleteShared : t.views.deleteOwn,
      verb: t.actions.delete,
      act: async () => {
        await api.DELETE('/v1/views/{viewId}', { params: { path: { viewId: one.id } } });
        await refetch('/v1/views');
      },
    });
  const editable = views.filter(({ isEditable }) => isEditable);

  return (
    <>
      <Menu width={260} position="bottom-start">
        <Menu.Target>
          <Button
            ref={button}
            size="xs"
            variant="default"
            leftSection={<IconBookmark size={15} stroke={1.6} />}
            className={css.button}
          >
            {current?.name ?? t.views.label}
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            leftSection={Object.keys(now).length === 0 ? <IconCheck size={14} /> : <span className={css.gap} />}
            onClick={() => show({})}
          >
            {t.views.all}
          </Menu.Item>
          {views.map((one) => (
            <Menu.Item
              key={one.id}
              leftSection={one === current ? <IconCheck size={14} /> : <span className={css.gap} />}
              rightSection={one.isShared && <IconUsers size={14} stroke={1.6} aria-label={t.views.shared} />}
              onClick={() => show(one.parameters)}
            >
              {one.name}
            </Menu.Item>
          ))}
          <Menu.Divider />
          {!current && (
            <Menu.Item leftSection={<IconDeviceFloppy size={14} stroke={1.6} />} onClick={() => setEdited('new')}>
              {t.views.save}
            </Menu.Item>
          )}
          {editable.length > 0 && !current && (
            <Menu.Sub>
              <Menu.Sub.Target>
                <Menu.Sub.Item>{t.views.update}</Menu.Sub.Item>
              </Menu.Sub.Target>
              <Menu.Sub.Dropdown>
                {editable.map((one) => (
                  <Menu.Item key={one.id} onClick={() => void update(one)}>
                    {one.name}
                  </Menu.Item>
                ))}
              </Menu.Sub.Dropdown>
            </Menu.Sub>
          )}
          {current?.isEditable && (
            <>
              <Menu.Item leftSection={<IconPencil size={14} stroke={1.6} />} onClick={() => setEdited(current)}>
                {t.views.rename}
              </Menu.Item>
              <Menu.Item leftSection={<IconTrash size={14} stroke={1.6} />} onClick={() => remove(current)}>
                {t.views.delete}
              </Menu.Item>
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      {edited && (
        <Name
          view={edited === 'new' ? undefined : edited}
          mayShare={can('organization:update')}
          onSave={save}
          onClose={() => {
            setEdited(undefined);
            // The item of the menu that opened it is gone.
            button.current?.focus();
          }}
        />
      )}
      {dialog}
    </>
  );
}

type NameProps = {
  view?: View;
  mayShare: boolean;
  onSave: (name: string, isShared: boolean) => Promise<unknown>;
  onClose: () => void;
};

function Name({ view, mayShare, onSave, onClose }: NameProps) {
  const [name, setName] = useState(view?.name ?? '');
  const [isShared, setShared] = useState(view?.isShared ?? false);
  const [problem, setProblem] = useState<string>();
  return (
    <Modal
      opened
      onClose={onClose}
      title={view ? t.views.rename : t.views.save}
      centered
      closeButtonProps={{ 'aria-label': t.actions.close }}
    >
      <form
        className="stack"
        onSubmit={(event) => {
          event.preventDefault();
          onSave(name, isShared)
            .then(onClose)
            .catch((error) => setProblem(words(error)));
        }}
      >
        <TextInput
          label={t.views.name}
          placeholder={t.views.example}
          data-autofocus
          value={name}
          error={problem}
          onChange={(event) => {
            setName(event.currentTarget.value);
            setProblem(undefined);
          }}
        />
        {mayShare && (
          <Checkbox label={t.views.share} checked={isShared} onChange={(event) => setShared(event.currentTarget.checked)} />
        )}
        <div className="buttons">
          <Button variant="default" onClick={onClose}>
            {t.actions.cancel}
          </Button>
          <Button type="submit" disabled={name.trim() === ''}>
            {t.actions.save}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
