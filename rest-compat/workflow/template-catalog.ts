import { badInput, notFound } from '../../platform/errors.ts';
import type { InputOf } from '../documents/graphql.ts';
import {
  CatalogStates,
  ChangeTemplates,
  DiagnoseCatalog,
  ImportTemplates,
  SyncTemplates,
  TemplateStates,
} from '../documents/workflow/template.ts';
import { done } from '../replies/envelopes.ts';
import { route } from '../route/define-route.ts';
import { json, path } from '../route/params.ts';
import type { Route } from '../route/route.ts';
import { pick } from '../schemas/json-schema.ts';
import { catalogSchemas, itemSchemas } from './shared/response-schemas.ts';

/** Operations on templates as products of the payment provider, and on many templates at once. */

const noStore = { 'Cache-Control': 'no-store' } as const;

const operations: Readonly<Record<string, InputOf<typeof ChangeTemplates>['operation']>> = {
  sync_pp: 'SYNC',
  activate: 'ACTIVATE',
  deactivate: 'DEACTIVATE',
  delete: 'DELETE',
};

/** The routes that synchronise templates with the payment provider and compare them with it. */
export const templateCatalog: readonly Route[] = [
  route(SyncTemplates)({
    method: 'POST',
    path: '/templates/sync/{code}',
    summary: 'Synchronises a template with the payment provider.',
    params: { code: path.text(), forceUpdate: json.boolean({ optional: true }) },
    body: { type: 'application/json', required: false },
    variables: ({ code, forceUpdate }) => ({ codes: [code], force: forceUpdate ?? false }),
    dataSchema: catalogSchemas.synced,
    reply({ syncTemplates: [state] }) {
      const { ppProductId = null, ppPriceId = null } = state?.template ?? {};
      const message = state?.synced === true ? 'synchronised' : (state?.issues.join('; ') ?? '');
      return done(message, { synced: state?.synced ?? false, ppProductId, ppPriceId });
    },
  }),
  route(ChangeTemplates)({
    method: 'POST',
    path: '/templates/bulk',
    summary: 'Synchronises, activates, deactivates or deletes many templates at once.',
    params: { templateCodes: json.texts(), operation: json.text({ known: ['sync_pp'], keepsUnknown: true }) },
    body: { type: 'application/json', required: true },
    fieldNames: { codes: 'templateCodes' },
    variables({ templateCodes, operation }) {
      const known = Object.hasOwn(operations, operation) ? operations[operation] : undefined;
      if (known !== undefined) return { codes: templateCodes, operation: known };
      throw badInput('operation', `operation must be one of ${Object.keys(operations).join(', ')}`);
    },
    dataSchema: catalogSchemas.bulk,
    reply: ({ changeTemplates }) => done('success', changeTemplates),
  }),
  route(SyncTemplates)({
    method: 'GET',
    path: '/templates/sync-all-pp',
    summary: 'Synchronises every template with the payment provider.',
    headers: noStore,
    rateClass: 'write',
    variables: () => ({ force: false }),
    dataSchema: catalogSchemas.syncedAll,
    reply({ syncTemplates: states }) {
      const successful = states.filter(({ synced }) => synced).length;
      return done('success', { successful, failed: states.length - successful, total: states.length });
    },
  }),
  route(TemplateStates)({
    method: 'GET',
    path: '/templates/sync-status',
    summary: 'Returns which templates the payment provider has, and which cannot be run now.',
    rule: 'admin',
    variables: () => ({}),
    dataSchema: catalogSchemas.status,
    reply({ templatesConnection: { edges }, unrunnableTemplates }) {
      const found = edges.map(({ node }) => node);
      const reasons = new Map(unrunnableTemplates.map(({ template, reason }) => [template.code, reason]));
      const listIssues = (code: string) => [reasons.get(code) ?? []].flat();
      return done('success', {
        totalTemplates: found.length,
        withPpProduct: found.filter(({ ppProductId }) => ppProductId !== null).length,
        activeTemplates: found.filter(({ isActive }) => isActive).length,
        needsSync: found.filter(({ ppSynced }) => !ppSynced).length,
        templates: found.map((template) =>
          pick(itemSchemas.syncStatus, {
            ...template,
            hasPpProduct: template.ppProductId !== null,
            issues: listIssues(template.code),
          }),
        ),
      });
    },
  }),
  route(CatalogStates)({
    method: 'GET',
    path: '/templates/verify-sync/{code}',
    summary: 'Compares a template with its product at the payment provider.',
    params: { code: path.text() },
    variables: ({ code }) => ({ codes: [code] }),
    dataSchema: catalogSchemas.verified,
    reply({ catalogState: [state] }, { input: { code } }) {
      if (state === undefined) throw notFound('template', code);
      const { template, ...facts } = state;
      return done(
        'success',
        pick(catalogSchemas.verified, { ...facts, ...template, templateCode: template.code }),
      );
    },
  }),
  route(DiagnoseCatalog)({
    method: 'GET',
    path: '/templates/diagnose-pp',
    summary: 'Checks the account at the payment provider.',
    variables: () => ({}),
    dataSchema: catalogSchemas.diagnosis,
    reply({ diagnoseCatalog: { chargesEnabled, country, ...found }, unrunnableTemplates }) {
      const unrunnable = unrunnableTemplates.map(({ template, reason }) => `${template.code}: ${reason}`);
      const accountInfo = { chargesEnabled, country };
      return done('success', { ...found, issues: [...found.issues, ...unrunnable], accountInfo });
    },
  }),
  route(ImportTemplates)({
    method: 'GET',
    path: '/templates/init',
    summary: 'Imports the bundled templates.',
    headers: noStore,
    rateClass: 'write',
    variables: () => ({}),
    dataSchema: catalogSchemas.imported,
    reply: ({ importBundledTemplates }) => done('success', importBundledTemplates),
  }),
];
