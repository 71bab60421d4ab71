import { t } from '../../../text/text.ts';
import type { Values } from '../../../work/work.ts';

/** Pictures of the ideas, drawn by the sandbox's studio when the console was built; none where it was not there. */
const PICTURES = import.meta.glob<string>('../../../../examples/*.webp', {
  eager: true,
  query: '?url',
  import: 'default',
});

const IDEAS = [
  { key: 'lighthouse', shape: '16:9' },
  { key: 'city', shape: '9:16' },
  { key: 'forest', shape: '3:4' },
  { key: 'harbour', shape: '1:1' },
  { key: 'aurora', shape: '16:9' },
  { key: 'house', shape: '4:3' },
] as const;

/** What the canvas shows before the first picture: ideas that fill the form with one click. */
export function Welcome({ onIdea }: { readonly onIdea: (values: Values) => void }) {
  return (
    <section className="max-w-240 my-0 mx-auto flex flex-col gap-3 w-full">
      <h2 className="text-20 font-semibold">{t('studio.first')}</h2>
      <p className="text-muted">{t('studio.firstText')}</p>
      <ul className="grid grid-cols-[repeat(auto-fill,minmax(232px,1fr))] gap-4">
        {IDEAS.map(({ key, shape }) => (
          <li key={key}>
            <button
              type="button"
              className="group flex flex-col gap-2 rounded-panel text-left"
              onClick={() => onIdea({ prompt: t(`idea.${key}`), aspectRatio: shape })}
            >
              <span className="relative aspect-[16/10] overflow-hidden rounded-panel bg-media">
                <Picture name={key} />
              </span>
              <span className="font-medium underline-offset-[3px] group-hover:underline">
                {t(`idea.${key}`)}
              </span>
              <span className="text-faint text-12 font-normal">{shape}</span>
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}

function Picture({ name }: { readonly name: string }) {
  const src = PICTURES[`../../../../examples/${name}.webp`];
  return src === undefined ? null : (
    <img className="h-full w-full object-cover" src={src} alt="" width={480} height={300} decoding="async" />
  );
}
