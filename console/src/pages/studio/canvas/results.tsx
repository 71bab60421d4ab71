import { useEffect, useMemo, useRef, useState, useCallback } from 'react';

import { useLiveTask } from '../../../api/live-tasks.ts';
import { later } from '../../../parts/page/later.tsx';
import { Problem } from '../../../parts/problem.tsx';
import type { Batch } from '../../../work/batches.ts';
import {
  type ResultActions,
  chosenShot,
  type Known,
  type Shot,
  shotBeside,
  listShots,
  shownBatches,
  type Watched,
} from './shots.ts';
import { Stage } from './stage.tsx';
import { Strip } from './strip.tsx';

const Sheet = later(async () => (await import('./sheet.tsx')).Sheet);
const Compared = later(async () => (await import('./compared.tsx')).Compared);
const Viewer = later(async () => (await import('../../../library/viewer.tsx')).Viewer);

type ResultsProps = ResultActions & { readonly batches: readonly Batch[] };

/** One result large, or the sheet that it belongs to; all others as a strip. */
export function Results({ batches, ...actions }: ResultsProps) {
  const shown = useMemo(() => shownBatches(batches), [batches]);
  const { tasks, error, watch } = useTasks();
  const shots = useMemo(() => listShots(shown, tasks), [shown, tasks]);
  const { id, choose, sheet, openSheet } = useChoice(shown);
  const [ticked, setTicked] = useState<readonly string[]>([]);
  const [isLarge, setIsLarge] = useState(false);
  const shot = chosenShot(shots, id);
  const tick = (one: string) =>
    setTicked((before) =>
      before.includes(one) ? before.filter((other) => other !== one) : [...before, one],
    );
  // What is below the large result would move when that comes; what is invisible does not count as moving.
  const wasKnown = useRef(false);
  wasKnown.current ||= error !== undefined || shot === undefined || shot.task !== undefined;
  const ofSheet = sheet === null ? [] : shots.filter(({ batch }) => batch.cell?.sheet === sheet);
  return (
    <div
      data-results
      className={`p-6 flex flex-col min-w-0 2xl:p-8 max-sm:p-4 gap-4 [--stage-h:max(320px,calc(100dvh_-_330px))] max-sm:[--stage-h:70dvh] ${wasKnown.current ? '' : 'invisible'}`}
    >
      {shown
        .flatMap((batch) => batch.tasks)
        .map((task) => (
          <WatchTask key={task} id={task} onChange={watch} />
        ))}
      {error !== undefined && <Problem error={error} />}
      {ofSheet.length > 0 && <Sheet shots={ofSheet} onOpen={choose} onTick={setTicked} {...actions} />}
      {ofSheet.length === 0 && shot !== undefined && (
        <Stage
          shot={shot}
          siblings={id === null ? shots.filter(({ batch }) => batch === shot.batch) : [shot]}
          onZoom={() => setIsLarge(true)}
          onSheet={openSheet}
          {...actions}
        />
      )}
      <Strip
        shots={shots}
        current={ofSheet.length > 0 ? undefined : shot?.id}
        ticked={ticked}
        onChoose={choose}
        onTick={tick}
      />
      {ticked.length > 0 && (
        <Compared shots={shots.filter((one) => ticked.includes(one.id))} onClear={() => setTicked([])} />
      )}
      {isLarge && shot !== undefined && (
        <LargeShot shot={shot} shots={shots} onChoose={choose} onClose={() => setIsLarge(false)} />
      )}
    </div>
  );
}

/** Which result is large; null: the newest. A new submission comes to the front, as its sheet where it has one. */
function useChoice(batches: readonly Batch[]) {
  const newest = batches[0];
  const [id, setId] = useState<string | null>(null);
  const [sheet, setSheet] = useState<string | null>(newest?.cell?.sheet ?? null);
  const before = useRef(newest?.id);
  useEffect(() => {
    if (newest === undefined || before.current === newest.id) return;
    before.current = newest.id;
    setId(null);
    setSheet(newest.cell?.sheet ?? null);
    document.querySelector('[data-results]')?.scrollIntoView({ block: 'start', behavior: 'smooth' });
  }, [newest]);
  return {
    id,
    sheet,
    choose: (next: string) => {
      setId(next);
      setSheet(null);
    },
    openSheet: setSheet,
  };
}

interface LargeShotProps {
  readonly shot: Shot;
  readonly shots: readonly Shot[];
  readonly onChoose: (id: string) => void;
  readonly onClose: () => void;
}

function LargeShot({ shot, shots, onChoose, onClose }: LargeShotProps) {
  if (shot.media === null) return null;
  const move = (step: -1 | 1) => {
    const made = shots.filter(({ media }) => media !== null);
    const next = shotBeside(made, shot.id, step);
    if (next !== undefined) onChoose(next.id);
  };
  return <Viewer media={shot.media} name={shot.media.name} onClose={onClose} onMove={move} />;
}

interface WatchTaskProps {
  readonly id: string;
  /** What is known of it now; the same function each time. */
  readonly onChange: (id: string, task: Watched, error: Error | undefined) => void;
}

/** Follows one task, once, however many places show it. */
function WatchTask({ id, onChange }: WatchTaskProps) {
  const { task, error } = useLiveTask(id);
  useEffect(() => onChange(id, task, error), [id, task, error, onChange]);
  useEffect(() => () => onChange(id, undefined, undefined), [id, onChange]);
  return null;
}

/** What is known of the tasks that are watched, and why one of them can't be. */
function useTasks() {
  const [tasks, setTasks] = useState<ReadonlyMap<string, Known>>(new Map());
  const watch = useCallback((id: string, task: Watched, error: Error | undefined) => {
    setTasks((before) => {
      const known = before.get(id);
      const isSame = known?.task === task && known?.error === error;
      return isSame ? before : new Map([...before, [id, { task, error }]]);
    });
  }, []);
  return { tasks, error: [...tasks.values()].find(({ error }) => error !== undefined)?.error, watch };
}
