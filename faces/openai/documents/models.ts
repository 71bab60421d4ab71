import { type DataOf, graphql } from '../../../rest-compat/documents/graphql.ts';

const modelFields = graphql(`
  fragment FaceModel on Model {
    model
    name
    generator
    provider
    kinds
    isDefault
    inputs
    sizes
    aspectRatios
    durations
    maxCount
    sandbox
    releasedAt
    optionsSchema
    hasBatches
  }
`);

/** One model of one generator. */
export type FaceModel = DataOf<typeof modelFields>;

/** Every model, with what it takes. */
export const FaceModels = graphql(
  `
    query FaceModels {
      models {
        ...FaceModel
      }
    }
  `,
  [modelFields],
);

/** One model, also one that its vendor is asked for first. */
export const FaceModelByName = graphql(
  `
    query FaceModelByName($generator: String!, $model: String!) {
      model(generator: $generator, model: $model) {
        ...FaceModel
      }
    }
  `,
  [modelFields],
);
