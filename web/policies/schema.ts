import { goToNextCell, tableEditing } from '@tiptap/pm/tables';
import { Extension, Mark, markInputRule, mergeAttributes, Node } from '@tiptap/react';
import StarterKit from '@tiptap/starter-kit';
import { isLink } from './content';

/** Code goes together with other marks, as in the API; the kit's own would drop them. */
const Code = Mark.create({
  name: 'code',
  parseHTML: () => [{ tag: 'code' }],
  renderHTML: ({ HTMLAttributes }) => ['code', HTMLAttributes, 0],
  addKeyboardShortcuts() {
    return { 'Mod-e': () => this.editor.commands.toggleMark(this.name) };
  },
  addInputRules() {
    return [markInputRule({ find: /(?<!`)`([^`]+)`$/, type: this.type })];
  },
});

const ROLES: Record<string, string> = { table: 'table', tableRow: 'row', tableCell: 'cell', tableHeader: 'header_cell' };

// Rows are as wide as each other and no cell spans another: the editor needs the attributes, the API does not know them.
const spans = () => ({
  colspan: { default: 1, rendered: false },
  rowspan: { default: 1, rendered: false },
  colwidth: { default: null, rendered: false },
});

const Table = Node.create({
  name: 'table',
  group: 'block',
  content: 'tableRow+',
  isolating: true,
  parseHTML: () => [{ tag: 'table' }],
  renderHTML: ({ HTMLAttributes }) => ['table', mergeAttributes(HTMLAttributes), ['tbody', 0]],
  extendNodeSchema: ({ name }) => (ROLES[name] ? { tableRole: ROLES[name] } : {}),
  addProseMirrorPlugins: () => [tableEditing()],
  addKeyboardShortcuts() {
    const go = (by: 1 | -1) => goToNextCell(by)(this.editor.state, this.editor.view.dispatch);
    return { Tab: () => go(1), 'Shift-Tab': () => go(-1) };
  },
});

const TableRow = Node.create({
  name: 'tableRow',
  content: '(tableCell | tableHeader)+',
  parseHTML: () => [{ tag: 'tr' }],
  renderHTML: () => ['tr', 0],
});

const cell = (name: 'tableCell' | 'tableHeader', tag: 'td' | 'th') =>
  Node.create({
    name,
    content: 'paragraph+',
    isolating: true,
    addAttributes: spans,
    parseHTML: () => [{ tag }],
    renderHTML: () => [tag, 0],
  });

/** Saving by the key that saves everywhere else. */
const Saving = Extension.create<{ save: () => void }>({
  name: 'saving',
  addOptions: () => ({ save: () => {} }),
  addKeyboardShortcuts() {
    return {
      'Mod-s': () => {
        this.options.save();
        return true;
      },
    };
  },
});

/** The nodes and marks of the API, and no others. */
export const extensions = (save: () => void) => [
  StarterKit.configure({
    code: false,
    // It would add a paragraph that nobody wrote.
    trailingNode: false,
    heading: { levels: [1, 2, 3, 4, 5, 6] },
    link: {
      openOnClick: false,
      autolink: false,
      defaultProtocol: 'https',
      isAllowedUri: (href) => isLink(href),
      HTMLAttributes: { target: null, rel: null, class: null },
    },
  }),
  Code,
  Table,
  TableRow,
  cell('tableCell', 'td'),
  cell('tableHeader', 'th'),
  Saving.configure({ save }),
];
