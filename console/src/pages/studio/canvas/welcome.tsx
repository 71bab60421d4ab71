import { t } from '../../../text/text.ts';
import type { Values } from '../../../work/work.ts';

const IDEAS: readonly {
  readonly key: 'lighthouse' | 'harbour' | 'forest' | 'city';
  readonly shape: string;
}[] = [
  { key: 'lighthouse', shape: '16:9' },
  { key: 'harbour', shape: '1:1' },
  { key: 'forest', shape: '3:4' },
  { key: 'city', shape: '9:16' },
];

/** What the canvas shows before the first picture: ideas that fill the form with one click. */
export function Welcome({ onIdea }: { readonly onIdea: (values: Values) => void }) {
  return (
    <section className="welcome">
      <h2>{t('studio.first')}</h2>
      <p className="mute">{t('studio.firstText')}</p>
      <ul className="ideas-list">
        {IDEAS.map(({ key, shape }) => (
          <li key={key}>
            <button
              type="button"
              className="idea-card"
              onClick={() => onIdea({ prompt: t(`idea.${key}`), aspectRatio: shape })}
            >
              <i style={{ aspectRatio: shape.replace(':', ' / ') }} aria-hidden="true" />
              <span>
                <span className="med block">{t(`idea.${key}`)}</span>
                <span className="c12 faint">{shape}</span>
              </span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
