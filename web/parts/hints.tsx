import type { SelectProps } from '@mantine/core';
import { IconCheck } from '@tabler/icons-react';
import css from './hints.module.css';

/** Options that say what they mean below their name. */
export const withHints = (hints: Record<string, string> | undefined): SelectProps['renderOption'] =>
  hints && Object.keys(hints).length > 0
    ? ({ option, checked }) => (
        <span className={css.option}>
          <span>
            {option.label}
            {hints[option.value] && <small>{hints[option.value]}</small>}
          </span>
          {checked && <IconCheck size={14} aria-hidden="true" />}
        </span>
      )
    : undefined;
