import { readdir, readFile } from 'node:fs/promises';

import { describe, expect, it } from 'vitest';

import { undescribed } from '../../../platform/graphql/schema/undescribed.fixture.ts';
import { workflowSchema } from './index.ts';

describe('the workflow schema', () => {
  it('lists every file of its folder', async () => {
    const folder = new URL('.', import.meta.url);
    const index = await readFile(new URL('index.ts', folder), 'utf8');
    const files = (await readdir(folder)).filter((name) => !/^index\.ts$|\.test\.ts$/.test(name));
    expect(files.filter((name) => !index.includes(`'./${name}'`))).toEqual([]);
  });

  it('describes every type, field, argument and value', () => {
    expect(undescribed(workflowSchema)).toEqual([]);
  });

  it('has exactly these root fields', () => {
    const rootFields = (type: { getFields(): object } | null | undefined) =>
      Object.keys(type?.getFields() ?? {})
        .filter((name) => !name.startsWith('_'))
        .sort();
    expect(rootFields(workflowSchema.getQueryType())).toEqual([
      'auditEntries',
      'auditLog',
      'caller',
      'callerOf',
      'catalogState',
      'diagnoseCatalog',
      'execution',
      'executions',
      'exportMyData',
      'payment',
      'payments',
      'serviceKeys',
      'sessions',
      'signOutUrl',
      'signingKeys',
      'template',
      'templates',
      'templatesConnection',
      'unrunnableTemplates',
      'userSessions',
      'users',
      'viewer',
      'workflowHealth',
    ]);
    expect(rootFields(workflowSchema.getMutationType())).toEqual([
      'beginSignIn',
      'cancelPayment',
      'changeTemplates',
      'checkout',
      'completeSignIn',
      'createServiceKey',
      'createTemplate',
      'createTestTemplate',
      'deleteAccount',
      'deletePerson',
      'deleteTemplate',
      'endUserSessions',
      'executeTemplate',
      'importBundledTemplates',
      'reconcilePayment',
      'refreshSession',
      'refundPayment',
      'revokeServiceKey',
      'revokeSession',
      'rotateServiceKey',
      'signInWithPlatform',
      'syncTemplates',
      'takePaymentEvent',
      'updateTemplate',
    ]);
    expect(rootFields(workflowSchema.getSubscriptionType())).toEqual(['executionProgress', 'paymentUpdated']);
  });
});
