export default function esmDefault() {}
