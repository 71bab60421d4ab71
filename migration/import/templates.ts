import { z } from 'zod';

import { AppError } from '../../platform/errors.ts';
import { checkedAnswer, enveloped, type ReadOld } from './old-service.ts';
import type { Outcome, Report } from './report.ts';
import type { TemplateImport, TemplateImporter } from './store-templates.ts';

/** Takes the templates of the workflow service over, inactive ones too. */

const text = z.string().nullish();
const listed = enveloped(
  z.object({ templates: z.array(z.looseObject({ code: z.string(), tags: z.array(z.string()).nullish() })) }),
);
const single = enveloped(
  z.looseObject({
    code: z.string(),
    name: text,
    description: text,
    creditCost: z.number().nullish(),
    templateType: z.enum(['IMAGE', 'VIDEO']).nullish(),
    workflow: text,
    isActive: z.boolean().nullish(),
    ppProductId: text,
    ppPriceId: text,
    createdAt: z.coerce.date().nullish().catch(null),
    // Not documented here, but taken where it is answered.
    version: text.catch(null),
    imageModel: text.catch(null),
    imagePrompt: text.catch(null),
  }),
);
const verified = enveloped(z.object({ ppProductId: text, ppPriceId: text }));

/** What is needed to take templates over. */
export interface TemplatesImport {
  readonly read: ReadOld;
  readonly importer: TemplateImporter;
  readonly report: Report;
  readonly dryRun: boolean;
}

const outcomes: Readonly<Record<TemplateImport['outcome'], Outcome>> = {
  imported: 'taken over',
  inactive: 'taken over, inactive',
  present: 'already there',
  conflict: 'conflict',
  refused: 'not taken over',
};

/** Takes over every template; one that is refused is reported and does not stop the rest. */
export async function importTemplates(parts: TemplatesImport): Promise<void> {
  const { read, importer, report, dryRun } = parts;
  const tags = await listTemplates(read);
  for (const code of tags.keys()) {
    try {
      const foreign = await readTemplate(read, code, tags.get(code) ?? []);
      const { outcome, reasons, product, workflowName } = await importer.take(foreign, { dryRun });
      if (workflowName !== undefined) report.addWorkflowName(...workflowName);
      const adopted = product === 'adopted' ? [`adopts ${foreign.productId} with ${foreign.priceId}`] : [];
      if (outcome === 'imported' || outcome === 'inactive') report.addUnanswered(unanswered(foreign));
      report.add({
        kind: 'template',
        id: code,
        outcome: outcomes[outcome],
        reasons: [...reasons, ...adopted],
      });
    } catch (thrown) {
      if (!(thrown instanceof AppError) || thrown.code === 'UNAVAILABLE') throw thrown;
      report.add({ kind: 'template', id: code, outcome: 'not taken over', reasons: [thrown.message] });
    }
  }
}

/** Codes with their tags. The list has the active ones, with tags; the sync status all of them, without. */
async function listTemplates(read: ReadOld): Promise<ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, readonly string[]>();
  for (const path of ['/templates', '/templates/sync-status']) {
    const { templates } = checkedAnswer(listed, await read(path), path).data;
    for (const { code, tags } of templates) found.set(code, found.get(code) ?? tags ?? []);
  }
  return found;
}

async function readTemplate(read: ReadOld, code: string, tags: readonly string[]) {
  const path = `/templates/get/${encodeURIComponent(code)}`;
  const template = checkedAnswer(single, await read(path), path).data;
  const product = template.ppProductId ? await readProduct(read, code) : {};
  return {
    code: template.code,
    name: template.name ?? template.code,
    description: template.description ?? '',
    workflow: template.workflow,
    creditCost: template.creditCost,
    templateType: template.templateType,
    tags,
    version: template.version,
    imageModel: template.imageModel,
    imagePrompt: template.imagePrompt,
    isActive: template.isActive ?? true,
    createdAt: template.createdAt ?? null,
    productId: template.ppProductId || null,
    priceId: template.ppPriceId || product.ppPriceId || null,
  };
}

/** The price is answered by this operation alone. */
async function readProduct(read: ReadOld, code: string): Promise<z.output<typeof verified>['data']> {
  const path = `/templates/verify-sync/${encodeURIComponent(code)}`;
  return checkedAnswer(verified, await read(path), path).data;
}

/** What no documented operation answers has to be typed in again. */
function unanswered(template: Awaited<ReturnType<typeof readTemplate>>): readonly string[] {
  return (['version', 'imageModel', 'imagePrompt'] as const).filter((name) => template[name] == null);
}
