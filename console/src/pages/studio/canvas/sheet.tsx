import { Icon } from '../../../parts/icons.tsx';
import { Button } from '../../../parts/looks/button.tsx';
import { Figures, Small } from '../../../parts/looks/lines.tsx';
import { t } from '../../../text/text.ts';
import { removeBatch, readTitle, type Varied } from '../../../work/batches.ts';
import {
  axisText,
  costText,
  timeText,
  variedText,
  isWorking,
  type Shot,
  type ResultActions,
} from './shots.ts';
import { EndedTile, readShape, WorkingTile } from './tile.tsx';

interface SheetProps extends ResultActions {
  readonly shots: readonly Shot[];
  readonly onOpen: (id: string) => void;
  /** Chooses what is compared. */
  readonly onTick: (ids: readonly string[]) => void;
}

/** Most images that are compared at once. */
const MOST_COMPARED = 4;

const CELL = 'border-0! p-1! text-left align-top';
const NAME = 'max-w-40 text-12 font-medium';

/** What was started at once to be compared: models side by side, or a table of one or two options. */
export function Sheet({ shots, onOpen, onTick, onRemix }: SheetProps) {
  const [first] = shots;
  if (first === undefined) return null;
  const { batch } = first;
  const { columns, rows } = arrangeGrid(shots);
  const hasRows = batch.cell?.y !== undefined;
  const isOfModels = batch.cell?.x.name === 'model';
  const title = readTitle(batch) ?? t(`kind.${batch.kind}`);
  const images = shots.filter(({ media }) => media?.contentType.startsWith('image/'));
  return (
    <section className="flex flex-col gap-3" data-batch aria-label={title}>
      <header className="flex items-start gap-3">
        <div className="flex-1 min-w-0">
          <h2 className="line-clamp-2 overflow-hidden">{title}</h2>
          <Small as="p">
            {isOfModels
              ? t('sheet.models', { count: shots.length })
              : `${batch.modelName} · ${axesText(first)}`}
          </Small>
        </div>
        {images.length > 1 && (
          <Button size="small" onClick={() => onTick(images.slice(0, MOST_COMPARED).map(({ id }) => id))}>
            <Icon name="compare" size={14} />
            {t('compare.open')}
          </Button>
        )}
        <Button size="small" onClick={() => onRemix(batch)}>
          <Icon name="remix" size={14} />
          {t('studio.remix')}
        </Button>
        <Button kind="ghost" size="small" icon onClick={() => removeBatch(batch)} label={t('studio.forget')}>
          <Icon name="close" size={14} />
        </Button>
      </header>
      <div
        className={
          isOfModels
            ? 'overflow-x-auto max-sm:[&_td]:w-auto max-sm:[&_td]:min-w-0 max-sm:[&_tr]:grid max-sm:[&_tr]:grid-cols-2'
            : 'overflow-x-auto'
        }
      >
        <table className="w-full table-fixed" data-sheet>
          {!isOfModels && (
            <thead>
              <tr>
                {hasRows && <td className={`${CELL} w-18`} />}
                {columns.map((column) => (
                  <th key={column.key} className={`${CELL} ${NAME}`} scope="col">
                    {variedText(column.varied)}
                  </th>
                ))}
              </tr>
            </thead>
          )}
          <tbody>
            {rows.map((row) => (
              <tr key={row.key}>
                {hasRows && row.varied !== null && (
                  <th className={`${CELL} ${NAME} w-18`} scope="row">
                    {variedText(row.varied)}
                  </th>
                )}
                {row.shots.map((shot, index) => (
                  <td key={columns[index]?.key} className={`${CELL} ${shot === undefined ? 'w-18' : 'w-33'}`}>
                    {shot !== undefined && <SheetCell shot={shot} isOfModels={isOfModels} onOpen={onOpen} />}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function axesText({ batch: { cell } }: Shot): string {
  const names = [cell?.x.name, cell?.y?.name].filter((name) => name !== undefined);
  return names.map(axisText).join(' × ');
}

interface SheetCellProps {
  readonly shot: Shot;
  readonly isOfModels: boolean;
  readonly onOpen: (id: string) => void;
}

/** One result with its price and time beside it. */
function SheetCell({ shot, isOfModels, onOpen }: SheetCellProps) {
  const { batch, task, media } = shot;
  const facts = [costText(task), timeText(task)].filter((fact) => fact !== null);
  return (
    <figure className="flex flex-col gap-1">
      {isWorking(shot) && <WorkingTile task={task ?? undefined} shape={readShape(batch)} />}
      {!isWorking(shot) && media === null && task && <EndedTile task={task} />}
      {media !== null && (
        <button
          type="button"
          className="grid min-h-18 cursor-zoom-in place-items-center overflow-hidden rounded-control bg-media"
          onClick={() => onOpen(shot.id)}
          aria-label={t('sheet.open', { name: batch.modelName })}
        >
          {media.contentType.startsWith('audio/') ? (
            <Icon name="speech" />
          ) : (
            <img
              className="h-auto w-full object-cover"
              src={media.thumbnail ?? media.url}
              alt=""
              style={{ aspectRatio: readShape(batch) }}
            />
          )}
        </button>
      )}
      <figcaption>
        {isOfModels && <span className="block truncate font-medium min-w-0">{batch.modelName}</span>}
        <Figures tone="muted" small>
          {facts.join(' · ')}
        </Figures>
      </figcaption>
    </figure>
  );
}

/** The places of a sheet: columns and rows in the order in which they were started. */

interface Heading {
  readonly key: string;
  readonly varied: Varied;
}

interface Row {
  readonly key: string;
  readonly varied: Varied | null;
  /** One for each column; undefined where nothing was started, or it was refused. */
  readonly shots: readonly (Shot | undefined)[];
}

/** Puts the shots of a sheet into their places; of several results of one place the first. */
export function arrangeGrid(shots: readonly Shot[]): {
  readonly columns: readonly Heading[];
  readonly rows: readonly Row[];
} {
  const columns = new Map<string, Heading>();
  const rows = new Map<string, Varied | null>();
  const places = new Map<string, Shot>();
  for (const shot of shots) {
    const { cell } = shot.batch;
    if (cell === undefined) continue;
    const column = JSON.stringify(cell.x.value);
    const row = JSON.stringify(cell.y?.value ?? null);
    if (!columns.has(column)) columns.set(column, { key: column, varied: cell.x });
    if (!rows.has(row)) rows.set(row, cell.y ?? null);
    const place = `${row} ${column}`;
    if (!places.has(place)) places.set(place, shot);
  }
  return {
    columns: [...columns.values()],
    rows: [...rows].map(([key, varied]) => ({
      key,
      varied,
      shots: [...columns.keys()].map((column) => places.get(`${key} ${column}`)),
    })),
  };
}
