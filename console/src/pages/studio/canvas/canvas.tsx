import type { MediaPartsFragment } from '../../../api/operations.ts';
import { useCaller } from '../../../api/use-caller.ts';
import { Icon } from '../../../parts/icons.tsx';
import { Empty } from '../../../parts/problem.tsx';
import { Ago } from '../../../parts/time.tsx';
import { t } from '../../../text/text.ts';
import { type Batch, removeBatch, titleOf, useBatches } from '../../../work/batches.ts';
import { textOf, type Values } from '../../../work/work.ts';
import { TaskTiles } from './tile.tsx';

interface CanvasProps {
  readonly onRemix: (batch: Batch) => void;
  readonly onAgain: (batch: Batch) => void;
  readonly onVary: (batch: Batch, media: MediaPartsFragment) => void;
  readonly onInput: (media: MediaPartsFragment) => void;
  /** Fills the form with an idea; absent where there are none. */
  readonly onIdea: ((values: Values) => void) | undefined;
}

const SHOWN = 20;

/** Everything that the caller has made in this browser, newest first; the welcome waits until it is known who they are. */
export function Canvas({ onIdea, ...actions }: CanvasProps) {
  const batches = useBatches();
  const isEmpty = useCaller() !== undefined && batches.length === 0;
  return (
    <div className="canvas">
      {isEmpty &&
        (onIdea === undefined ? <Empty title={t('studio.nothing')} /> : <Welcome onIdea={onIdea} />)}
      {batches.slice(0, SHOWN).map((batch) => (
        <BatchView key={batch.id} batch={batch} {...actions} />
      ))}
    </div>
  );
}

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
function Welcome({ onIdea }: { readonly onIdea: (values: Values) => void }) {
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

interface BatchViewProps {
  readonly batch: Batch;
  readonly onRemix: (batch: Batch) => void;
  readonly onAgain: (batch: Batch) => void;
  readonly onVary: (batch: Batch, media: MediaPartsFragment) => void;
  readonly onInput: (media: MediaPartsFragment) => void;
}

/** One submission: its words, its results as they come, and what can be done with it next. */
function BatchView({ batch, onRemix, onAgain, onVary, onInput }: BatchViewProps) {
  const { values, tasks, modelName } = batch;
  const count = Number(values['count'] ?? 1);
  const perTask = tasks.length > 1 ? 1 : count;
  const shape = shapeOf(batch);
  const title = titleOf(batch) ?? t(`kind.${batch.kind}`);
  const facts = [
    modelName,
    values['aspectRatio'],
    textOf(values['duration']) === '' ? null : t('time.seconds', { seconds: textOf(values['duration']) }),
  ];
  return (
    <section className="batch" aria-label={title}>
      <header>
        <div className="grow">
          <h2 className="cut2">{title}</h2>
          <p className="c12 mute">
            {facts.filter(Boolean).join(' · ')} · <Ago at={batch.at} />
          </p>
        </div>
        <button type="button" className="btn sm" onClick={() => onRemix(batch)}>
          <Icon name="remix" size={14} />
          {t('studio.remix')}
        </button>
        <button type="button" className="btn sm" onClick={() => onAgain(batch)}>
          <Icon name="again" size={14} />
          {t('studio.again')}
        </button>
        <button
          type="button"
          className="btn sm ghost ico"
          onClick={() => removeBatch(batch.id)}
          aria-label={t('studio.forget')}
          title={t('studio.forget')}
        >
          <Icon name="close" size={14} />
        </button>
      </header>
      <div className={isWide(shape) ? 'tiles wide' : 'tiles'}>
        {tasks.map((id) => (
          <TaskTiles
            key={id}
            id={id}
            count={perTask}
            shape={shape}
            onVary={canVary(batch) ? (media) => onVary(batch, media) : undefined}
            onInput={onInput}
          />
        ))}
      </div>
    </section>
  );
}

/** Pictures and videos come out differently each time; a recording does not. */
function canVary({ kind, template }: Batch): boolean {
  return template === undefined && ['IMAGE', 'CHARACTER_IMAGE', 'VIDEO', 'FRAME_VIDEO'].includes(kind);
}

/** The shape that a result will have, as CSS writes it; square when the form does not say. */
function shapeOf({ values, kind }: Batch): string {
  const { aspectRatio, resolution } = values;
  const text =
    typeof aspectRatio === 'string' ? aspectRatio : typeof resolution === 'string' ? resolution : '';
  const match = /^(\d+)[:x](\d+)$/.exec(text);
  if (match !== null) return `${match[1]} / ${match[2]}`;
  return kind === 'SPEECH' || kind === 'VOICE_CLONE' || kind === 'ANALYSIS'
    ? '3 / 1'
    : kind === 'IMAGE' || kind === 'CHARACTER_IMAGE' || kind === 'COMFY_WORKFLOW'
      ? '1 / 1'
      : '16 / 9';
}

function isWide(shape: string): boolean {
  const [width = 1, height = 1] = shape.split(' / ').map(Number);
  return width / height > 1.4;
}
