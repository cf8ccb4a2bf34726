import { ActionIcon, Alert, Button, Menu, Popover, Select, TextInput, Tooltip } from '@mantine/core';
import {
  IconArrowBackUp,
  IconArrowForwardUp,
  IconBlockquote,
  IconBold,
  IconCode,
  IconItalic,
  IconLink,
  IconList,
  IconListNumbers,
  IconMinus,
  IconSourceCode,
  IconStrikethrough,
  IconTable,
  IconUnderline,
} from '@tabler/icons-react';
import { addColumnAfter, addRowAfter, deleteColumn, deleteRow, deleteTable } from '@tiptap/pm/tables';
import { type Editor as Core, EditorContent, useEditor, useEditorState } from '@tiptap/react';
import { type ReactNode, useEffect, useMemo, useRef, useState } from 'react';
import { t } from '../texts';
import { isLink, isNumbered, isSame, type Node, written } from './content';
import css from './Editor.module.css';
import { type Saved, useSaving } from './saving';
import { extensions } from './schema';
import textCss from './Text.module.css';
import { wordLists } from './word';

type Props = {
  id: string;
  /** What is on the server, with its version. */
  saved: { version: string | null; content: Node[] };
  /** What to begin with: the same, or text that was kept here. */
  content: Node[];
  /** What the first change means for the policy. */
  note?: string;
  onDone: () => void;
  /** Somebody else saved first, and the writer wants to see both. */
  onCompare: (mine: Node[]) => void;
};

/** The text of a policy under the writer's hands. Saved when they leave it. */
export default function Editor({ id, saved, content, note, onDone, onCompare }: Props) {
  const frame = useRef<HTMLDivElement>(null);
  const core = useRef<Core>(null);
  const isHandedOn = useRef(false);
  const [start] = useState(content);
  const saving = useSaving(id, saved, () => (core.current ? written(core.current.getJSON()) : undefined));
  const latest = useRef(saving);
  latest.current = saving;
  const all = useMemo(() => extensions(() => void latest.current.save()), []);
  const editor = useEditor({
    extensions: all,
    content: { type: 'doc', content: start.length > 0 ? start : [{ type: 'paragraph' }] },
    autofocus: 'start',
    injectCSS: false,
    editorProps: {
      transformPastedHTML: wordLists,
      attributes: {
        class: textCss.text ?? '',
        role: 'textbox',
        'aria-multiline': 'true',
        'aria-label': t.policies.fields.content,
        ...(isNumbered(start) ? { 'data-numbered': 'true' } : {}),
      },
    },
    onUpdate: () => latest.current.changed(),
  });
  core.current = editor;
  // What the editor cannot hold would be lost by saving: then it only shows.
  const isWhole = isSame(written(editor.getJSON()), start) || saving.status.state !== 'clean';
  useEffect(() => {
    if (!isWhole) editor.setEditable(false);
  }, [editor, isWhole]);
  useEffect(() => {
    latest.current.changed();
    return () => {
      if (!isHandedOn.current) latest.current.leave();
    };
  }, []);

  if (!isWhole) return <Alert color="yellow">{t.policies.cannotEdit}</Alert>;
  const { status } = saving;
  return (
    <div
      ref={frame}
      className={css.editor}
      role="group"
      aria-label={t.policies.fields.content}
      onBlur={(event) => {
        const to = event.relatedTarget;
        // A menu of the toolbar opens elsewhere in the page; the text is not left then.
        if (to instanceof Element && (frame.current?.contains(to) || to.closest('[data-portal]'))) return;
        void saving.save();
      }}
    >
      <div className={css.bar}>
        <Toolbar editor={editor} />
        <Button variant="default" onClick={() => void saving.save().then((isSaved) => isSaved && onDone())}>
          {t.policies.done}
        </Button>
        <span className={css.status} role="status" data-state={status.state}>
          {t.policies.saving[status.state] || note}
        </span>
      </div>
      <Trouble
        status={status}
        onRetry={() => void saving.save()}
        onMine={() => void saving.settle(true)}
        onTheirs={() => void saving.settle(false).then(onDone)}
        onCompare={() => {
          isHandedOn.current = true;
          onCompare(written(editor.getJSON()));
        }}
      />
      <EditorContent editor={editor} />
    </div>
  );
}

type TroubleProps = { status: Saved; onRetry: () => void; onMine: () => void; onTheirs: () => void; onCompare: () => void };

function Trouble({ status, onRetry, onMine, onTheirs, onCompare }: TroubleProps) {
  if (status.state === 'failed')
    return (
      <div className={css.trouble} role="alert" data-bad>
        <p>{t.policies.notSaved(status.why)}</p>
        <Button size="xs" variant="default" onClick={onRetry}>
          {t.actions.retry}
        </Button>
      </div>
    );
  if (status.state !== 'conflict') return null;
  return (
    <section className={css.trouble} role="alert" aria-label={t.edits.conflictTitle}>
      <b>{t.edits.conflictTitle}</b>
      <p>{t.policies.conflictText}</p>
      <div className={css.choices}>
        <Button size="xs" variant="default" onClick={onCompare}>
          {t.policies.conflictCompare}
        </Button>
        <Button size="xs" variant="default" onClick={onMine}>
          {t.policies.conflictMine}
        </Button>
        <Button size="xs" variant="subtle" onClick={onTheirs}>
          {t.edits.discardMine}
        </Button>
      </div>
    </section>
  );
}

type Tool = {
  key: string;
  icon: typeof IconBold;
  label: string;
  act: (chain: ReturnType<Core['chain']>) => { run: () => boolean };
};

const marks = (): Tool[] => [
  { key: 'bold', icon: IconBold, label: t.policies.tools.bold, act: (chain) => chain.toggleBold() },
  { key: 'italic', icon: IconItalic, label: t.policies.tools.italic, act: (chain) => chain.toggleItalic() },
  { key: 'underline', icon: IconUnderline, label: t.policies.tools.underline, act: (chain) => chain.toggleUnderline() },
  { key: 'strike', icon: IconStrikethrough, label: t.policies.tools.strike, act: (chain) => chain.toggleStrike() },
  { key: 'code', icon: IconCode, label: t.policies.tools.code, act: (chain) => chain.toggleMark('code') },
];

const blocks = (): Tool[] => [
  { key: 'bulletList', icon: IconList, label: t.policies.tools.bullets, act: (chain) => chain.toggleBulletList() },
  { key: 'orderedList', icon: IconListNumbers, label: t.policies.tools.numbers, act: (chain) => chain.toggleOrderedList() },
  { key: 'blockquote', icon: IconBlockquote, label: t.policies.tools.quote, act: (chain) => chain.toggleBlockquote() },
  { key: 'codeBlock', icon: IconSourceCode, label: t.policies.tools.codeBlock, act: (chain) => chain.toggleCodeBlock() },
];

function Toolbar({ editor }: { editor: Core }) {
  const on = useEditorState({
    editor,
    selector: ({ editor: now }) => ({
      active: [...marks(), ...blocks(), { key: 'link' }, { key: 'table' }]
        .map(({ key }) => key)
        .filter((key) => now.isActive(key)),
      level: [1, 2, 3, 4, 5, 6].find((level) => now.isActive('heading', { level })) ?? 0,
      canUndo: now.can().undo(),
      canRedo: now.can().redo(),
    }),
  });
  const button = ({ key, icon: Icon, label, act }: Tool) => (
    <Key
      key={key}
      label={label}
      pressed={on.active.includes(key)}
      onClick={() => act(editor.chain().focus()).run()}
      icon={<Icon size={17} stroke={1.6} />}
    />
  );
  const { tools } = t.policies;
  return (
    <div className={css.tools} role="toolbar" aria-label={tools.label}>
      <Select
        aria-label={tools.style}
        size="xs"
        w={118}
        data={tools.styles.map((label, level) => ({ value: String(level), label }))}
        value={String(on.level)}
        allowDeselect={false}
        onChange={(next) => {
          const level = Number(next) as 0 | 1 | 2 | 3 | 4 | 5 | 6;
          const chain = editor.chain().focus();
          (level === 0 ? chain.setParagraph() : chain.setHeading({ level })).run();
        }}
      />
      {marks().map(button)}
      <LinkTool editor={editor} isOn={on.active.includes('link')} />
      {blocks().map(button)}
      <TableTool editor={editor} isOn={on.active.includes('table')} />
      <Key
        label={tools.rule}
        icon={<IconMinus size={17} stroke={1.6} />}
        onClick={() => editor.chain().focus().setHorizontalRule().run()}
      />
      <Key
        label={tools.undo}
        icon={<IconArrowBackUp size={17} stroke={1.6} />}
        disabled={!on.canUndo}
        onClick={() => editor.chain().focus().undo().run()}
      />
      <Key
        label={tools.redo}
        icon={<IconArrowForwardUp size={17} stroke={1.6} />}
        disabled={!on.canRedo}
        onClick={() => editor.chain().focus().redo().run()}
      />
    </div>
  );
}

type KeyProps = { label: string; icon: ReactNode; pressed?: boolean; disabled?: boolean; onClick?: () => void };

function Key({ label, icon, pressed, disabled, onClick }: KeyProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon
        aria-label={label}
        aria-pressed={pressed}
        className={css.key}
        disabled={disabled}
        // The text keeps its selection.
        onMouseDown={(event) => event.preventDefault()}
        onClick={onClick}
      >
        {icon}
      </ActionIcon>
    </Tooltip>
  );
}

function LinkTool({ editor, isOn }: { editor: Core; isOn: boolean }) {
  const [href, setHref] = useState<string>();
  const [problem, setProblem] = useState<string>();
  const { tools } = t.policies;
  const close = () => {
    setHref(undefined);
    setProblem(undefined);
  };
  function set() {
    const text = href?.trim() ?? '';
    if (text !== '' && !isLink(text)) return setProblem(tools.linkWrong);
    const chain = editor.chain().focus().extendMarkRange('link');
    if (text === '') chain.unsetLink().run();
    else if (editor.state.selection.empty && !isOn)
      chain.insertContent({ type: 'text', text, marks: [{ type: 'link', attrs: { href: text } }] }).run();
    else chain.setLink({ href: text }).run();
    close();
  }
  return (
    <Popover opened={href !== undefined} onClose={close} position="bottom-start" trapFocus returnFocus width={320}>
      <Popover.Target>
        <ActionIcon
          aria-label={tools.link}
          aria-pressed={isOn}
          className={css.key}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => setHref(String(editor.getAttributes('link').href ?? ''))}
        >
          <IconLink size={17} stroke={1.6} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label={tools.link}>
        <form
          className={css.link}
          onSubmit={(event) => {
            event.preventDefault();
            set();
          }}
        >
          <TextInput
            aria-label={tools.linkTo}
            placeholder="https://"
            value={href ?? ''}
            error={problem}
            data-autofocus
            onChange={(event) => setHref(event.currentTarget.value)}
          />
          <Button type="submit" variant="default">
            {tools.setLink}
          </Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}

const row = (type: string) => ({
  type: 'tableRow',
  content: Array.from({ length: 3 }, () => ({ type, content: [{ type: 'paragraph' }] })),
});
const TABLE = { type: 'table', content: [row('tableHeader'), row('tableCell'), row('tableCell')] };

function TableTool({ editor, isOn }: { editor: Core; isOn: boolean }) {
  const { tools } = t.policies;
  const run = (command: typeof addRowAfter) => () => {
    command(editor.state, editor.view.dispatch);
    editor.commands.focus();
  };
  if (!isOn)
    return (
      <Key
        label={tools.table}
        icon={<IconTable size={17} stroke={1.6} />}
        onClick={() => editor.chain().focus().insertContent(TABLE).run()}
      />
    );
  return (
    <Menu position="bottom-start">
      <Menu.Target>
        <ActionIcon aria-label={tools.tableMenu} aria-pressed className={css.key}>
          <IconTable size={17} stroke={1.6} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item onClick={run(addRowAfter)}>{tools.addRow}</Menu.Item>
        <Menu.Item onClick={run(addColumnAfter)}>{tools.addColumn}</Menu.Item>
        <Menu.Item onClick={run(deleteRow)}>{tools.deleteRow}</Menu.Item>
        <Menu.Item onClick={run(deleteColumn)}>{tools.deleteColumn}</Menu.Item>
        <Menu.Item onClick={run(deleteTable)}>{tools.deleteTable}</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
