import { AppError } from '../../platform/errors.ts';
import {
  findAmount,
  createAccountLookup,
  hashContent,
  type PricingOptions,
} from '../../subgraphs/workflow/catalog/pricing.ts';
import { saveReference } from '../../subgraphs/workflow/catalog/references.ts';
import type { WorkflowDatabase } from '../../subgraphs/workflow/database/database.ts';
import {
  findWorkflow,
  type RunnableChecks,
  type Template,
  type TemplateRequest,
  type WorkflowNames,
} from '../../subgraphs/workflow/domain/template.ts';
import type { PayProvider } from '../../subgraphs/workflow/payments/provider/pay-provider.ts';
import bundled from '../../subgraphs/workflow/templates/bundled-templates.json' with { type: 'json' };
import { newTemplate } from '../../subgraphs/workflow/templates/rules.ts';
import { createTemplateStore, type TemplateStore } from '../../subgraphs/workflow/templates/store.ts';
import { isAsImported, noteImported } from './imported-templates.ts';

/** Takes templates of another installation over, with the products that they have at the payment provider. */

/** A template as another installation answers it. */
interface ForeignTemplate extends TemplateRequest {
  readonly isActive: boolean;
  /** Null when it is not answered. */
  readonly createdAt: Date | null;
  readonly productId: string | null;
  readonly priceId: string | null;
}

/** What became of one template. */
export interface TemplateImport {
  /** `inactive`: taken over, but it can't be run or sold here; `conflict`: another template has the code. */
  readonly outcome: 'imported' | 'inactive' | 'present' | 'conflict' | 'refused';
  /** Why it is inactive, what differs, or why it is refused. */
  readonly reasons: readonly string[];
  /** The line for WORKFLOW_NAMES: a name that is not known here, and the usual workflow of the template's type. */
  readonly workflowName?: readonly [name: string, suggested: string];
  /** What became of the product at the payment provider. */
  readonly product: 'adopted' | 'none' | 'refused';
}

/** Takes templates over, one at a time. A second time nothing changes. */
export interface TemplateImporter {
  /** With `dryRun` nothing is written. UNAVAILABLE or PayProviderError: nothing was written for this template. */
  take(template: ForeignTemplate, options: { readonly dryRun: boolean }): Promise<TemplateImport>;
}

export interface TemplateImporterOptions extends PricingOptions {
  readonly database: WorkflowDatabase;
  readonly runnable: Pick<RunnableChecks, 'check'>;
  readonly workflowNames: WorkflowNames;
  /** Null where no payment provider is set up. */
  readonly provider: PayProvider | null;
}

/** A product that is adopted, and the account that it is in. */
interface Adoption {
  readonly account: string;
  readonly productId: string;
  readonly priceId: string;
}

/** Creates the importer. */
export function createTemplateImporter(options: TemplateImporterOptions): TemplateImporter {
  const store = createTemplateStore(options.database);
  const findAccount = createAccountLookup(options.provider);
  return {
    async take(foreign, { dryRun }) {
      const wanted = toTemplate(foreign, options.workflowNames);
      if (wanted instanceof AppError) {
        return { outcome: 'refused', reasons: [wanted.message], product: 'none' };
      }
      const there = await presentState(options.database, store, wanted);
      if (there !== 'missing' && there !== 'unfinished') return there;
      const account = options.provider === null ? null : await findAccount();
      const unable = await unableReason(options, wanted);
      const { adoption, reasons } = await adoptable(options, foreign, { template: wanted, account });
      const problems = [...(unable === null ? [] : [unable]), ...reasons];
      const template = { ...wanted, isActive: wanted.isActive && problems.length === 0 };
      const hasNews = there === 'missing' || problems.length === 0;
      if (!dryRun && hasNews) await write(options, { template, adoption });
      return {
        outcome: problems.length === 0 ? 'imported' : 'inactive',
        reasons: problems,
        product: adoption !== null ? 'adopted' : reasons.length > 0 ? 'refused' : 'none',
        ...(unable === null ? {} : missingName(wanted, options.workflowNames)),
      };
    },
  };
}

function toTemplate(foreign: ForeignTemplate, names: WorkflowNames): Template | AppError {
  try {
    const { isActive, createdAt } = foreign;
    return { ...newTemplate(foreign, names), isActive, createdAt: createdAt ?? new Date() };
  } catch (thrown) {
    if (thrown instanceof AppError) return thrown;
    throw thrown;
  }
}

/** Fields that another installation may have under the same code with another value. */
const comparedFields = ['name', 'description', 'workflow', 'creditCost', 'templateType'] as const;

/** `unfinished`: taken over earlier, and inactive only because it could not be run or sold then. */
async function presentState(
  database: WorkflowDatabase,
  store: TemplateStore,
  wanted: Template,
): Promise<'missing' | 'unfinished' | TemplateImport> {
  const [present] = await store.byCodes([wanted.code], { withDeleted: false });
  if (present === undefined) {
    const [deleted] = await store.byCodes([wanted.code], { withDeleted: true });
    if (deleted === undefined) return 'missing';
    return { outcome: 'conflict', reasons: ['it was deleted here'], product: 'none' };
  }
  if (isUntouchedBundled(present) && differences(present, wanted).length > 0) return 'missing';
  const reasons = differences(present, wanted);
  if (reasons.length > 0) return { outcome: 'conflict', reasons, product: 'none' };
  if (wanted.isActive && !present.isActive) {
    if (await isAsImported(database, present.code)) return 'unfinished';
    return { outcome: 'conflict', reasons: ['it was deactivated here'], product: 'none' };
  }
  return { outcome: 'present', reasons, product: 'none' };
}

function differences(present: Template, wanted: Template): readonly string[] {
  return comparedFields
    .filter((field) => present[field] !== wanted[field])
    .map(
      (field) => `${field} is ${JSON.stringify(present[field])} here, ${JSON.stringify(wanted[field])} there`,
    );
}

/** A template that Kiln brought along and nobody has changed makes way for the one that is taken over. */
function isUntouchedBundled(template: Template): boolean {
  const entry = bundled.find(({ code }) => code === template.code);
  return (
    entry !== undefined &&
    template.isActive &&
    comparedFields.every((field) => entry[field] === template[field])
  );
}

/** Why the workflow or the model can't be run here; null when it can. */
async function unableReason(
  { runnable }: TemplateImporterOptions,
  template: Template,
): Promise<string | null> {
  try {
    await runnable.check(template);
    return null;
  } catch (thrown) {
    if (thrown instanceof AppError && thrown.code === 'BAD_USER_INPUT') return thrown.message;
    throw thrown;
  }
}

function missingName(
  { workflow, templateType }: Template,
  names: WorkflowNames,
): Pick<TemplateImport, 'workflowName'> {
  const isKnown = /^(image|video|comfy:.+)$/.test(findWorkflow(workflow, names).workflow);
  return isKnown ? {} : { workflowName: [workflow, templateType.toLowerCase()] };
}

/** Reads the product at the provider. What would be charged must be what the template costs here. */
async function adoptable(
  options: TemplateImporterOptions,
  { productId, priceId }: ForeignTemplate,
  { template, account }: { readonly template: Template; readonly account: string | null },
): Promise<{ readonly adoption: Adoption | null; readonly reasons: readonly string[] }> {
  const refused = (reason: string) => ({ adoption: null, reasons: [reason] });
  const { provider, currency } = options;
  if (productId === null) return { adoption: null, reasons: [] };
  if (priceId === null)
    return refused(`the price of its product ${productId} is not answered by the old service`);
  if (provider === null || account === null) {
    return refused(`its product ${productId} can't be checked: no payment provider is set up here`);
  }
  const entry = await provider.catalog.read(productId, priceId);
  if (entry === null) {
    return refused(
      `its product ${productId} with the price ${priceId} is not in the account of STRIPE_SECRET_KEY`,
    );
  }
  const amount = findAmount(options, template);
  if (entry.amount !== amount || entry.currency !== currency) {
    return refused(
      `its price ${priceId} is ${entry.amount} ${entry.currency}, but here it would cost ${amount} ${currency}: see PP_CREDIT_UNIT_AMOUNT and PP_CURRENCY`,
    );
  }
  return { adoption: { account, productId, priceId }, reasons: [] };
}

/** Writes the template and the reference to its product, both or neither; nothing is written at the provider. */
async function write(
  options: TemplateImporterOptions,
  { template, adoption }: { readonly template: Template; readonly adoption: Adoption | null },
): Promise<void> {
  const { isActive, createdAt, ...values } = template;
  await options.database.transaction().execute(async (transaction) => {
    const store = createTemplateStore(transaction);
    if ((await store.byCodes([template.code], { withDeleted: false })).length === 0) {
      await store.insert(values);
    }
    await store.update(template.code, { ...values, isActive, createdAt });
    await noteImported(transaction, template.code);
    if (adoption === null) return;
    const { account, ...ids } = adoption;
    await saveReference(transaction, {
      templateCode: template.code,
      ppAccount: account,
      ...ids,
      contentHash: hashContent(options, template),
      syncedAt: new Date(),
    });
  });
}
