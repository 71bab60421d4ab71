import type { WorkflowDatabase } from '../database.ts';
import bundled from './bundled-templates.json' with { type: 'json' };
import { createTemplateStore, type NewTemplate } from './store.ts';
import { templateTypes, type TemplateService, type TemplateType } from './template.ts';

/** Longest list of templates that is answered at once. */
const listLimit = 1000;

/** Templates: what can be executed. How one is executed is in ../executions. */
export function createTemplateService(database: WorkflowDatabase): TemplateService {
  const store = createTemplateStore(database);
  return {
    list: ({ activeOnly }) => store.list({ activeOnly, limit: listLimit }),
    async byCodes(codes) {
      const found = new Map((await store.byCodes(codes)).map((template) => [template.code, template]));
      return codes.map((code) => found.get(code) ?? null);
    },
    count: () => store.count(),
    importBundled: () => store.insertMissing(bundled.map(newTemplate)),
  };
}

function newTemplate(entry: (typeof bundled)[number]): NewTemplate {
  return { ...entry, templateType: typeOf(entry.templateType) };
}

function typeOf(word: string): TemplateType {
  const type = templateTypes.find((known) => known === word);
  if (type === undefined) throw new Error(`bundled-templates.json names the template type ${word}`);
  return type;
}
