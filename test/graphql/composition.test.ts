import { composeServices } from '@apollo/composition';
import { graphqlSync, parse, type GraphQLSchema } from 'graphql';
import { describe, expect, it } from 'vitest';

import { mediaSchema } from '../../subgraphs/media/schema/index.ts';
import { workflowSchema } from '../../subgraphs/workflow/schema/index.ts';

function toService(name: string, schema: GraphQLSchema) {
  const { data } = graphqlSync({ schema, source: '{ _service { sdl } }' });
  const { sdl } = (data as unknown as { _service: { sdl: string } })._service;
  return { name, url: `http://${name}/graphql`, typeDefs: parse(sdl) };
}

describe('the two subgraphs', () => {
  it('compose without errors and without hints', () => {
    const composed = composeServices([
      toService('media', mediaSchema),
      toService('workflow', workflowSchema),
    ]);
    expect(composed.errors?.map(({ message }) => message)).toBeUndefined();
    expect(composed.hints?.map(({ message }) => message)).toEqual([]);
  });

  it('hide from the API what is for services only', () => {
    const { schema } = composeServices([
      toService('media', mediaSchema),
      toService('workflow', workflowSchema),
    ]);
    const api = schema?.toAPISchema();
    expect(api?.type('StartInput')).toBeUndefined();
    expect(api?.schemaDefinition.rootType('mutation')?.field('startTask')).toBeUndefined();
    expect(api?.schemaDefinition.rootType('mutation')?.field('createTask')).toBeDefined();
  });
});
