// In Node.js, import and require() share one class and one generator.

import ObjectID from './compat.cjs'

export default ObjectID
