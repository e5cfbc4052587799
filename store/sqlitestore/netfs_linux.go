package sqlitestore

import "syscall"

// networkNames are the names of network file systems by their type numbers, see statfs(2).
var networkNames = map[uint32]string{
	0x6969:     "NFS",
	0x517B:     "SMB",
	0xFF534D42: "CIFS",
	0xFE534D42: "SMB2",
	0x5346414F: "AFS",
	0x73757245: "Coda",
	0x00C36400: "Ceph",
	0x0BD00BD0: "Lustre",
	0x01021997: "9P",
}

// networkFS returns the name of the network file system that folder is on, or "" if folder is on
// a local file system.
func networkFS(folder string) string {
	var st syscall.Statfs_t
	if syscall.Statfs(folder, &st) != nil {
		return ""
	}
	return networkNames[uint32(st.Type)]
}
