import { useNavigate, useSearch } from '@tanstack/react-router';

import { useSeesAll } from '../../api/caller.ts';
import type { TaskState } from '../../api/documents/operations.ts';
import { Narrow, NarrowChips } from '../../library/narrow.tsx';
import { type Narrowing, readNarrowing } from '../../library/narrowing.ts';
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
  const set = (name: 'state' | 'type' | 'find', value: string | undefined) => {
    const { [name]: _, ...rest } = search;
    void navigate({ search: value === undefined ? rest : { ...rest, [name]: value } });
  };
  const narrowing = readNarrowing({ ...search });
  const narrow = (next: Narrowing) => {
    const { state, type, find } = search;
    void navigate({ search: { ...given({ state, type, find }), ...next } });
  };
  const seesAll = useSeesAll();
  return (
    <>
      <Row wrap>
        <SearchField label={t('tasks.search')} find={search.find} onSearch={(find) => set('find', find)} />
        <Chips aria-label={t('tasks.filter')}>
          {[undefined, ...STATES].map((one) => (
            <Chip key={one ?? 'all'} aria-pressed={one === search.state} onClick={() => set('state', one)}>
              {one !== undefined && <StateShape state={one} />}
              {one === undefined ? t('tasks.all') : t(`state.${one}`)}
            </Chip>
          ))}
        </Chips>
        <Select
          width="w-auto"
          aria-label={t('tasks.kind')}
          value={search.type ?? ''}
          onChange={({ target }) => set('type', target.value === '' ? undefined : target.value)}
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

/** The members that have a value. */
function given<Shape extends object>(shape: Shape) {
  return Object.fromEntries(Object.entries(shape).filter(([, value]) => value !== undefined)) as {
    [Name in keyof Shape]?: Exclude<Shape[Name], undefined>;
  };
}
