import { useCaller } from '../../../api/caller.ts';
import { later } from '../../../parts/page/later.tsx';
import { Empty } from '../../../parts/problem.tsx';
import { t } from '../../../text/text.ts';
import { useBatches } from '../../../work/batches.ts';
import type { Values } from '../../../work/work.ts';
import type { ResultActions } from './shots.ts';

// Nobody needs it before the first result.
const Results = later(async () => (await import('./results.tsx')).Results);

interface CanvasProps extends ResultActions {
  /** Fills the form with an idea; absent where there are none. */
  readonly onIdea: ((values: Values) => void) | undefined;
}

/** What was made in this browser: one result large, the others as a strip; the welcome waits until it is known who looks. */
export function Canvas({ onIdea, ...actions }: CanvasProps) {
  const batches = useBatches();
  const isEmpty = useCaller() !== undefined && batches.length === 0;
  if (batches.length > 0) return <Results batches={batches} {...actions} />;
  return (
    <div className="p-6 flex flex-col gap-8 min-w-0 2xl:p-8 max-sm:p-4 max-sm:gap-6">
      {isEmpty &&
        (onIdea === undefined ? <Empty title={t('studio.nothing')} /> : <Welcome onIdea={onIdea} />)}
    </div>
  );
}

/** Images of the ideas, drawn by the sandbox's studio when the console was built; none where it was not there. */
const IMAGES = import.meta.glob<string>('../../../../examples/*.webp', {
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

/** What the canvas shows before the first image: ideas that fill the form with one click. */
function Welcome({ onIdea }: { readonly onIdea: (values: Values) => void }) {
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
                <Image name={key} />
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

function Image({ name }: { readonly name: string }) {
  const src = IMAGES[`../../../../examples/${name}.webp`];
  return src === undefined ? null : (
    <img className="h-full w-full object-cover" src={src} alt="" width={480} height={300} decoding="async" />
  );
}
