import { randomBytes } from 'node:crypto';

import { AppError, badInput } from '../../../platform/errors.ts';
import type { Template, TemplateService } from '../domain/template.ts';
import type { CatalogSync } from './sync.ts';

/** Bulk changes of templates, and test templates. */

interface BulkServices {
  readonly templates: TemplateService;
  readonly catalog: CatalogSync;
  /** No test templates then. */
  readonly production: boolean;
}

/** The outcome of a bulk change, by template. */
export interface BulkShape {
  readonly successful: readonly string[];
  readonly failed: readonly { readonly code: string; readonly error: string }[];
}

type Operation = 'SYNC' | 'ACTIVATE' | 'DEACTIVATE' | 'DELETE';

const MAX_CODES = 1_000;

/** Changes templates one after the other; a failure does not stop the rest. BAD_USER_INPUT for too many codes. */
export async function changeTemplates(
  services: BulkServices,
  codes: readonly string[],
  operation: Operation,
): Promise<BulkShape> {
  if (codes.length > MAX_CODES) throw badInput('codes', `codes must be at most ${MAX_CODES}`);
  const successful: string[] = [];
  const failed: { code: string; error: string }[] = [];
  for (const code of codes) {
    const error = await change(services, code, operation);
    if (error === null) successful.push(code);
    else failed.push({ code, error });
  }
  return { successful, failed };
}

/** Changes one template. Null on success, else the reason. */
async function change(services: BulkServices, code: string, operation: Operation): Promise<string | null> {
  const { templates, catalog } = services;
  try {
    if (operation === 'SYNC') {
      const [template = null] = await templates.byCodes([code]);
      if (template === null) return 'there is no such template';
      const { issues } = await catalog.syncAndReport(template, false);
      return issues.length === 0 ? null : issues.join('; ');
    }
    const changed =
      operation === 'DELETE'
        ? await templates.remove(code)
        : await templates.update(code, { isActive: operation === 'ACTIVATE' });
    await catalog.trySync(changed);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message;
    throw error;
  }
}

/** Creates a template with a new code to try things with. FORBIDDEN in production. */
export async function createTestTemplate({ templates, production }: BulkServices): Promise<Template> {
  if (production) throw new AppError('FORBIDDEN', 'test templates are not made in production');
  return templates.create({
    code: `test-${randomBytes(6).toString('hex')}`,
    name: 'Test template',
    description: 'Made to try things with.',
    creditCost: 1,
    tags: ['test'],
    imagePrompt: 'a test card with a circle and coloured bars',
  });
}
