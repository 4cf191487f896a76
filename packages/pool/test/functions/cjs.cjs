module.exports = () => 'default of CJS';
module.exports.named = () => 'named of CJS';
