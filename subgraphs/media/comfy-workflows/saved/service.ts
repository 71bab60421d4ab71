import { LRUCache } from 'lru-cache';

import { type Caller, listedOwner, mayChange } from '../../../../platform/access/caller.ts';
import type { AuthMode } from '../../../../platform/access/policy.ts';
import { AppError, badInput, notFound } from '../../../../platform/errors.ts';
import type { EventBus } from '../../../../platform/events/event-bus.ts';
import type { MediaDatabase } from '../../database/database.ts';
import type { GeneratorRegistry } from '../../generators/bindings/binding.ts';
import { type ComfyWorkflow, checkedGraph } from '../comfy-workflows.ts';
import { toListedModel, toRunnableWorkflow } from './as-model.ts';
import { propose } from './propose.ts';
import { checkedDraft, inGraph, plainName } from './rules.ts';
import {
  type Added,
  addVersion,
  MAX_OF_OWNER,
  MAX_VERSIONS,
  readPublished,
  readVersions,
  readWorkflow,
  readWorkflows,
  removeWorkflow,
  setPublished,
  type WorkflowRow,
} from './store.ts';
import type { SavedWorkflow, SavedWorkflows } from './workflow.ts';

interface Parts {
  readonly database: MediaDatabase;
  readonly registry: GeneratorRegistry;
  readonly authMode: AuthMode;
  readonly bus: EventBus;
}

/** Most published graphs that are listed as models. */
const MAX_LISTED = 500;
const TOPIC = 'saved-workflows';
/** Wake-ups may be lost. */
const FRESH_MS = 5_000;

/** Makes the service. */
export function createSavedWorkflows({ database, registry, authMode, bus }: Parts): SavedWorkflows {
  const published = createPublished(database, bus);
  const { owned, shown, answer } = createReading(database);
  const publish = async (caller: Caller, { name }: WorkflowRow, version: number | null) => {
    if (!(await setPublished(database, name, version))) {
      throw badInput('version', `${name} has no version ${version}`);
    }
    published.forget();
    return answer(caller, name);
  };
  return {
    propose: (graph) => propose(inGraph(() => checkedGraph(graph))),
    async save(caller, draft) {
      refuseUnknownCaller(caller, authMode);
      const { outputs, ...checked } = checkedDraft(draft);
      const category = outputs[0]?.type ?? 'image';
      const version = { ...checked, outputs, owner: caller.id, category };
      const added = await addVersion(database, version, (owner) => mayChange(caller, owner));
      if (added !== 'added') throw refusal(added, checked.name);
      return answer(caller, checked.name);
    },
    publish: async (caller, name, version) => publish(caller, await owned(caller, name), version),
    withdraw: async (caller, name) => publish(caller, await owned(caller, name), null),
    async rollBack(caller, name) {
      const row = await owned(caller, name);
      if (row.previous === null)
        throw badInput('name', `${row.name} has no version that was published before`);
      return publish(caller, row, row.previous);
    },
    async remove(caller, name) {
      const row = await owned(caller, name);
      const before = await answer(caller, row.name);
      await removeWorkflow(database, row.name);
      published.forget();
      return before;
    },
    async find(caller, name) {
      const row = await readWorkflow(database, plainName(name));
      return (row === null ? [] : await shown(caller, [row]))[0] ?? null;
    },
    list: async (caller, page) => shown(caller, await readWorkflows(database, listedOwner(caller), page)),
    async runnable(caller, sent, version) {
      const row = await readWorkflow(database, plainName(sent));
      if (row === null) return null;
      const number = version ?? row.published;
      if (number === null) return null;
      const [found] = await readVersions(database, [{ name: row.name, number }]);
      if (found === undefined || (number !== row.published && !mayChange(caller, row.owner))) {
        throw notFound('version of the workflow', `${row.name} ${number}`);
      }
      return toRunnableWorkflow(row, found);
    },
    published: async () => (await published.read()).map(({ workflow }) => workflow),
    async models() {
      const base = registry.models({ category: 'workflow' })[0];
      if (base === undefined) return [];
      return (await published.read()).map(({ row, workflow }) => toListedModel(base, row, workflow));
    },
  };
}

/** Reading saved graphs as far as a caller may see them. */
function createReading(database: MediaDatabase) {
  const owned = async (caller: Caller, sent: string): Promise<WorkflowRow> => {
    const row = await readWorkflow(database, plainName(sent));
    if (row === null || !mayChange(caller, row.owner)) throw notFound('workflow', sent);
    return row;
  };
  const shown = async (caller: Caller, rows: readonly WorkflowRow[]): Promise<readonly SavedWorkflow[]> => {
    const isMine = ({ owner }: WorkflowRow) => mayChange(caller, owner);
    const seen = rows.filter((row) => isMine(row) || row.published !== null);
    const versions = await readVersions(
      database,
      seen.map((row) => ({ name: row.name, number: isMine(row) ? null : row.published })),
    );
    const byName = Map.groupBy(versions, ({ name }) => name);
    return seen.map((row) => ({ ...row, isMine: isMine(row), versions: byName.get(row.name) ?? [] }));
  };
  const answer = async (caller: Caller, name: string): Promise<SavedWorkflow> => {
    const row = await readWorkflow(database, name);
    const [found] = row === null ? [] : await shown(caller, [row]);
    if (found === undefined) throw notFound('workflow', name);
    return found;
  };
  return { owned, shown, answer };
}

/** What nobody in particular has saved would be everybody's to change. */
function refuseUnknownCaller({ kind }: Caller, authMode: AuthMode): void {
  if (kind !== 'anonymous' || authMode === 'open') return;
  throw new AppError('UNAUTHENTICATED', 'a workflow is saved by somebody: send a token or a service key');
}

function refusal(reason: Exclude<Added, 'added'>, name: string): AppError {
  if (reason === 'taken') {
    return new AppError('CONFLICT', `the name ${name} is taken: choose another`, { field: 'name' });
  }
  const most = reason === 'too-many' ? `${MAX_OF_OWNER} workflows` : `${MAX_VERSIONS} versions of a workflow`;
  return badInput('name', `there may be ${most}: remove one (deleteWorkflow)`);
}

interface Published {
  readonly row: WorkflowRow;
  readonly workflow: ComfyWorkflow;
}

/** The published graphs, kept for some seconds: each listing of models asks for them. */
function createPublished(database: MediaDatabase, bus: EventBus) {
  const kept = new LRUCache<'all', Promise<readonly Published[]>>({ max: 1, ttl: FRESH_MS });
  const clear = (): void => kept.clear();
  bus.listen(TOPIC, clear);
  bus.onGap(clear);
  const load = async (): Promise<readonly Published[]> => {
    const rows = await readPublished(database, MAX_LISTED);
    return rows.map(({ version, ...row }) => ({ row, workflow: toRunnableWorkflow(row, version) }));
  };
  return {
    read(): Promise<readonly Published[]> {
      const known = kept.get('all') ?? load();
      kept.set('all', known);
      known.catch(clear);
      return known;
    },
    forget(): void {
      clear();
      bus.publish(TOPIC, 'all', Date.now());
    },
  };
}
