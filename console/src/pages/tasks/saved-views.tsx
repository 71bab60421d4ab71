import { useNavigate, useSearch } from '@tanstack/react-router';
import { type FormEvent, useState } from 'react';

import { useCaller } from '../../api/caller.ts';
import { Icon } from '../../parts/icons.tsx';
import { Button } from '../../parts/looks/button.tsx';
import { Chip, Input } from '../../parts/looks/inputs.tsx';
import { Row } from '../../parts/looks/lines.tsx';
import { t } from '../../text/text.ts';
import { createKeeper } from '../../work/keeper.ts';

/** Filters with a name. */

/** What the list is narrowed by, as its address has it, under a name. */
interface SavedView {
  readonly name: string;
  readonly search: object;
}

/** Most views of one account. */
const MOST = 20;

/** The views with one more, the newest last; a name stands for one alone. */
export function withView(views: readonly SavedView[], view: SavedView): readonly SavedView[] {
  return [...withoutView(views, view.name), view].slice(-MOST);
}

/** The views without that of a name. */
export function withoutView(views: readonly SavedView[], name: string): readonly SavedView[] {
  return views.filter((view) => view.name !== name);
}

/** Whether two narrow a list alike, in whatever order their members stand. */
export function sameView(one: object, other: object): boolean {
  return writeSearch(one) === writeSearch(other);
}

function writeSearch(search: object): string {
  return JSON.stringify(Object.entries(search).toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Kept in this browser, for each account. */
const keeper = createKeeper<readonly SavedView[]>('kiln.views');
/** Those that any tab has kept. */
const latestViews = () => keeper.latest('tasks') ?? [];

/** Filters of the list that were given a name: one press shows them again. */
export function SavedViews() {
  // After a reload the list may be there before it is known whose views these are.
  return <Views key={useCaller()?.id} />;
}

function Views() {
  const search = useSearch({ from: '/tasks' });
  const navigate = useNavigate({ from: '/tasks' });
  const [views, setViews] = useState<readonly SavedView[]>(() => latestViews());
  const [isNaming, setIsNaming] = useState(false);
  const [name, setName] = useState('');
  const keep = (next: readonly SavedView[]) => {
    keeper.write('tasks', next);
    setViews(next);
  };
  const isKept = views.some((view) => sameView(view.search, search));
  const save = (event: FormEvent) => {
    event.preventDefault();
    keep(withView(latestViews(), { name: name.trim(), search }));
    setName('');
    setIsNaming(false);
  };
  if (views.length === 0 && Object.keys(search).length === 0) return null;
  return (
    <Row wrap role="group" aria-label={t('views.title')}>
      {views.map((view) => (
        <span key={view.name} className="flex items-center min-w-0 gap-1">
          <Chip
            aria-pressed={sameView(view.search, search)}
            onClick={() => void navigate({ search: view.search })}
          >
            {view.name}
          </Chip>
          {sameView(view.search, search) && (
            <Button
              kind="ghost"
              size="small"
              icon
              label={t('views.remove', { name: view.name })}
              onClick={() => keep(withoutView(latestViews(), view.name))}
            >
              <Icon name="close" size={12} />
            </Button>
          )}
        </span>
      ))}
      {Object.keys(search).length > 0 && !isKept && !isNaming && (
        <Button kind="ghost" size="small" onClick={() => setIsNaming(true)}>
          <Icon name="plus" size={14} />
          {t('views.save')}
        </Button>
      )}
      {isNaming && (
        <form className="flex items-center gap-2 min-w-0" onSubmit={save}>
          <Input
            width="w-auto"
            // The field was asked for by the button that it replaces.
            autoFocus
            required
            maxLength={40}
            aria-label={t('views.name')}
            placeholder={t('views.name')}
            value={name}
            onChange={({ target }) => setName(target.value)}
            onKeyDown={({ key }) => key === 'Escape' && setIsNaming(false)}
          />
          <Button type="submit" kind="primary" size="small" disabled={name.trim() === ''}>
            {t('views.save')}
          </Button>
        </form>
      )}
    </Row>
  );
}
