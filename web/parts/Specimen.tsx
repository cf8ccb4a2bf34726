import type { ReactNode } from 'react';
import css from './Specimen.module.css';

type Props = { caption: string; title?: string; text?: string; points: string[]; children?: ReactNode };

/** A good record, with what makes it good: an empty register teaches by showing one. */
export function Specimen({ caption, title, text, points, children }: Props) {
  return (
    <figure className={css.specimen}>
      <figcaption className="t3">{caption}</figcaption>
      {title && <h3>{title}</h3>}
      {text && <p className="t2">{text}</p>}
      {children}
      <ol>
        {points.map((point, at) => (
          <li key={point}>
            <b>{at + 1}</b> {point}
          </li>
        ))}
      </ol>
    </figure>
  );
}
