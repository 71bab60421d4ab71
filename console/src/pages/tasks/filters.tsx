import { useNavigate, useSearch } from '@tanstack/react-router';

import { useSeesAll } from '../../api/caller.ts';
import type { TaskState } from '../../api/documents/operations.ts';
import { Narrow, NarrowChips } from '../../library/narrow.tsx';
import { type Narrowing, narrowedBy, readNarrowing } from '../../library/narrowing.ts';
import { SearchField } from '../../parts/controls/fields.tsx';
import { Chip, Chips, Select } from '../../parts/looks/inputs.tsx';
import { Row } from '../../parts/looks/lines.tsx';
import { StateShape } from '../../parts/task/state.tsx';
import { t } from '../../text/text.ts';
import { SavedViews } from './saved-views.tsx';

const STATES: readonly TaskState[] = ['QUEUED', 'RUNNING', 'SUCCEEDED', 'FAILED', 'CANCELLED'];
const KINDS = [
  'IMAGE',
  'VIDEO',
  'FRAME_VIDEO',
  'SPEECH',
  'VOICE_CLONE',
  'LIP_SYNC',
  'HUMAN_VIDEO',
  'AVATAR_SOURCE',
  'AVATAR',
  'AVATAR_VIDEO',
  'COMFY_WORKFLOW',
  'ANALYSIS',
  'DESCRIPTION',
  'PERSON_DETECTION',
  'CHARACTER',
  'CHARACTER_IMAGE',
  'RECIPE',
] as const;

/** What the list is narrowed by; all of it is in the address. */
export function Filters() {
  const search = useSearch({ from: '/tasks' });
  const navigate = useNavigate({ from: '/tasks' });
  // What the address has by then, not what is drawn: a filter may have been changed just before.
  const set = (change: Partial<Record<'state' | 'type' | 'find', string | undefined>>) =>
    void navigate({ search: (before) => ({ ...before, ...change }) as typeof search });
  const narrowing = readNarrowing({ ...search });
  const narrow = (next: Narrowing) => void navigate({ search: (before) => narrowedBy(before, next) });
  const seesAll = useSeesAll();
  return (
    <>
      <Row wrap>
        <SearchField label={t('tasks.search')} find={search.find} onSearch={(find) => set({ find })} />
        <Chips aria-label={t('tasks.filter')}>
          {[undefined, ...STATES].map((one) => (
            <Chip key={one ?? 'all'} aria-pressed={one === search.state} onClick={() => set({ state: one })}>
              {one !== undefined && <StateShape state={one} />}
              {one === undefined ? t('tasks.all') : t(`state.${one}`)}
            </Chip>
          ))}
        </Chips>
        <Select
          width="w-auto"
          aria-label={t('tasks.kind')}
          value={search.type ?? ''}
          onChange={({ target }) => set({ type: target.value === '' ? undefined : target.value })}
          empty={t('tasks.anyKind')}
          options={KINDS.map((kind) => [kind, t(`kind.${kind}`)])}
        />
        <Narrow value={narrowing} onChange={narrow} seesAll={seesAll} />
        <NarrowChips value={narrowing} onChange={narrow} />
      </Row>
      <SavedViews />
    </>
  );
}
