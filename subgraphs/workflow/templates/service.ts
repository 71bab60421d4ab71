import { isUniqueViolation } from '../../../platform/database/database.ts';
import { AppError, notFound, toError } from '../../../platform/errors.ts';
import type { WorkflowDatabase } from '../database/database.ts';
import {
  templateTypes,
  type ImportedTemplate,
  type Template,
  type TemplateService,
  type TemplateType,
  type WorkflowNames,
} from '../domain/template.ts';
import bundled from './bundled-templates.json' with { type: 'json' };
import { changedTemplate, checkChange, newTemplate } from './rules.ts';
import { createTemplateStore, type NewTemplate, type TemplateStore } from './store.ts';

/** Most templates in one answer. */
const listLimit = 1000;

/** What the service needs to know of executions. */
export interface TemplateServiceOptions {
  readonly workflowNames: WorkflowNames;
  /** Throws BAD_USER_INPUT for a workflow or model that is not known here, UNAVAILABLE while that can't be asked. */
  readonly checkRunnable: (template: Template) => Promise<void>;
  /** Throws BAD_USER_INPUT for a price that the payment provider would not charge. */
  readonly checkPrice: (template: Pick<Template, 'creditCost' | 'price' | 'currency'>) => void;
}

/** Creates the service (documented in domain/template.ts). */
export function createTemplateService(
  database: WorkflowDatabase,
  { workflowNames, checkRunnable, checkPrice }: TemplateServiceOptions,
): TemplateService {
  const store = createTemplateStore(database);
  const inOrder = (codes: readonly string[], found: readonly Template[]) => {
    const byCode = new Map(found.map((template) => [template.code, template]));
    return codes.map((code) => byCode.get(code) ?? null);
  };
  return {
    list: ({ limit = listLimit, ...options }) => store.list({ ...options, limit }),
    byCodes: async (codes) => inOrder(codes, await store.byCodes(codes, { withDeleted: false })),
    namedBy: async (codes) => inOrder(codes, await store.byCodes(codes, { withDeleted: true })),
    count: (options = { activeOnly: false }) => store.count(options),
    async create(request) {
      const template = newTemplate(request, workflowNames);
      checkPrice(template);
      await checkRunnable({ ...template, isActive: true, createdAt: new Date() });
      const made = await store.insert(template).catch(unlessTaken);
      if (made !== null) return made;
      throw new AppError('CONFLICT', `the code ${template.code} is taken by another template`, {
        field: 'code',
      });
    },
    async update(code, change) {
      checkChange(change);
      const [template] = await store.byCodes([code], { withDeleted: false });
      if (template === undefined) throw notFound('template', code);
      const wanted = changedTemplate(template, change, workflowNames);
      if (isOtherPrice(template, wanted)) checkPrice(wanted);
      if (wanted.workflow !== template.workflow || wanted.imageModel !== template.imageModel) {
        await checkRunnable(wanted);
      }
      const changed = await store.update(code, differences(template, wanted));
      if (changed === null) throw notFound('template', code);
      return changed;
    },
    async remove(code) {
      const removed = await store.remove(code);
      if (removed === null) throw notFound('template', code);
      return removed;
    },
    addBundled: () => store.insertMissing(bundled.map(bundledTemplate)),
    importBundled: () => importBundled(store),
  };
}

function isOtherPrice(template: Template, wanted: Template): boolean {
  return (['creditCost', 'price', 'currency'] as const).some((name) => wanted[name] !== template[name]);
}

/** Only what is another value is written, so that two changes at once keep each other's. */
function differences(template: Template, wanted: Template): Partial<Template> {
  const entries = Object.entries(wanted).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(template[name as keyof Template]),
  );
  return Object.fromEntries(entries);
}

/** Imports one after the other; a failure does not stop the rest. */
async function importBundled(store: TemplateStore): Promise<readonly ImportedTemplate[]> {
  const imported: ImportedTemplate[] = [];
  for (const entry of bundled) {
    try {
      await store.insert(bundledTemplate(entry)).catch(unlessTaken);
      imported.push({ code: entry.code, status: 'success', error: null });
    } catch (thrown) {
      imported.push({ code: entry.code, status: 'error', error: toError(thrown).message });
    }
  }
  return imported;
}

/** Turns the error of a taken code into null. */
function unlessTaken(error: unknown): null {
  if (!isUniqueViolation(error)) throw error;
  return null;
}

function bundledTemplate(entry: (typeof bundled)[number]): NewTemplate {
  return { ...entry, price: null, currency: null, templateType: parseType(entry.templateType) };
}

function parseType(word: string): TemplateType {
  const type = templateTypes.find((known) => known === word);
  if (type === undefined) throw new Error(`bundled-templates.json names the template type ${word}`);
  return type;
}
